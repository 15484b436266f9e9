package io.carillon.bench.ours;

import io.carillon.run.HandlerType;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.IntStream;

/** What the measured runs carry: a number that tells them apart, and text that makes it about a hundred bytes. */
public record Job(int number, String text) {
    public static final HandlerType<Job> TYPE = HandlerType.of("bench.job", Job.class);
    public static final String QUEUE = TYPE.name();
    public static final String TEXT = "a payload of about a hundred bytes, as an order or a mail address would be";

    public static Job of(int number) {
        return new Job(number, TEXT);
    }

    public static List<Job> range(int from, int to) {
        return IntStream.range(from, to).mapToObj(Job::of).toList();
    }

    /** The JSON that Carillon stores for it. */
    public static byte[] json(int number) {
        return ("{\"number\":" + number + ",\"text\":\"" + TEXT + "\"}").getBytes(StandardCharsets.UTF_8);
    }
}
