package io.carillon.bench.ours;

import io.carillon.run.HandlerType;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.IntStream;

/** The payload of measured runs: a number that identifies the run, and text that makes it about 100 bytes long. */
public record BenchPayload(int number, String text) {
    public static final HandlerType<BenchPayload> TYPE = HandlerType.of("bench.job", BenchPayload.class);
    public static final String QUEUE = TYPE.name();
    public static final String TEXT = "a payload of about a hundred bytes, as an order or a mail address would be";

    public static BenchPayload of(int number) {
        return new BenchPayload(number, TEXT);
    }

    public static List<BenchPayload> range(int from, int to) {
        return IntStream.range(from, to).mapToObj(BenchPayload::of).toList();
    }

    /** Returns payloads of about this length. */
    static List<BenchPayload> range(int from, int to, int bytes) {
        String text = TEXT.repeat(Math.max(1, bytes / TEXT.length()));
        return IntStream.range(from, to)
                .mapToObj(number -> new BenchPayload(number, text))
                .toList();
    }

    /** Returns the JSON that Carillon stores for a payload. */
    public static byte[] json(int number) {
        return ("{\"number\":" + number + ",\"text\":\"" + TEXT + "\"}").getBytes(StandardCharsets.UTF_8);
    }
}
