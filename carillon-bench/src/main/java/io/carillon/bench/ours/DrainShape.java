package io.carillon.bench.ours;

import io.carillon.run.Enqueue;
import java.time.Duration;

/**
 * Runs to drain.
 *
 * @param queues the number of queues that share the runs
 * @param keys the number of concurrency keys that share the runs, each with a limit of ten; 0 for no keys
 * @param payloadBytes the approximate length of a payload
 * @param handler the time that a handler waits
 */
public record DrainShape(String name, int jobs, int queues, int keys, int payloadBytes, Duration handler) {
    private static final int MAX_RUNNING = 10;

    /** Returns runs of one queue, without keys, with payloads of 100 bytes and handlers that do nothing. */
    public static DrainShape plain(String name, int jobs) {
        return new DrainShape(name, jobs, 1, 0, 100, Duration.ZERO);
    }

    public DrainShape queues(int number) {
        return new DrainShape(name, jobs, number, keys, payloadBytes, handler);
    }

    public DrainShape keys(int number) {
        return new DrainShape(name, jobs, queues, number, payloadBytes, handler);
    }

    public DrainShape payloadBytes(int bytes) {
        return new DrainShape(name, jobs, queues, keys, bytes, handler);
    }

    public DrainShape handler(Duration time) {
        return new DrainShape(name, jobs, queues, keys, payloadBytes, time);
    }

    /** Returns the options of the runs of a part; each part has its own queue or key. */
    Enqueue options(int part) {
        Enqueue options = Enqueue.now();
        if (queues > 1) options = options.queue("bench." + part % queues);
        return keys == 0 ? options : options.concurrencyKey("key-" + part % keys, MAX_RUNNING);
    }

    int parts() {
        return Math.max(queues, keys);
    }
}
