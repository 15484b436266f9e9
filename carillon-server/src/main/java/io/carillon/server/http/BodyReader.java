package io.carillon.server.http;

import java.io.ByteArrayOutputStream;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.util.thread.Scheduler;
import org.jspecify.annotations.Nullable;

/**
 * Reads the body of a request. No thread waits for bytes: Jetty calls the reader when some have arrived. A body that
 * arrives too slowly is given up, because it occupies a connection and memory. Bytes beyond the allowed number are read
 * but not kept, so that a client that sends too much can still read the response.
 */
final class BodyReader implements Runnable {
    /** The rate that a body must keep after the grace period, on average. */
    private static final int MIN_BYTES_PER_SECOND = 4 * 1024;

    private static final Duration MAX_TIME = Duration.ofMinutes(1);
    /** While a body is put together, it is in memory twice. */
    private static final int COPIES = 2;

    /** Receives the result of a reader, once. */
    interface Receiver {
        void onBody(byte[] body);

        /** Called if the body cannot be used. If {@code waiting}, Jetty may still call the reader. */
        void onProblem(Problem problem, boolean waiting);
    }

    private final Request request;
    private final int maxBytes;
    private final long maxReadBytes;
    private final Duration grace;
    private final MemoryBudget.Reservation memory;
    private final Receiver receiver;
    private final Scheduler scheduler;
    private final ByteArrayOutputStream body = new ByteArrayOutputStream();
    private final long beganNanos = System.nanoTime();
    private long received;
    private boolean done;
    private Scheduler.@Nullable Task timeout;

    /**
     * Creates a reader.
     *
     * @param maxBytes the maximum length of the body
     * @param maxReadBytes how much of a longer body is read
     * @param grace the time that a body may take at any rate
     */
    BodyReader(
            Request request,
            int maxBytes,
            long maxReadBytes,
            Duration grace,
            MemoryBudget.Reservation memory,
            Receiver receiver) {
        this.request = request;
        this.maxBytes = maxBytes;
        this.maxReadBytes = maxReadBytes;
        this.grace = grace;
        this.memory = memory;
        this.receiver = receiver;
        this.scheduler = request.getConnectionMetaData().getConnector().getScheduler();
    }

    void start() {
        synchronized (this) {
            scheduleTimeout();
        }
        run();
    }

    /** Reads the bytes that have arrived. Jetty calls this method from one thread at a time. */
    @Override
    public void run() {
        try {
            if (!readAvailable()) return;
        } catch (Problem problem) {
            receiver.onProblem(problem, false);
            return;
        }
        receiver.onBody(body.toByteArray());
    }

    /** Returns whether the body is complete; false if more bytes are awaited, or the reader has given up. */
    private synchronized boolean readAvailable() {
        if (done) return false;
        try {
            while (true) {
                Content.Chunk chunk = request.read();
                if (chunk == null) {
                    request.demand(this);
                    return false;
                }
                if (Content.Chunk.isFailure(chunk)) throw ErrorMapping.bodyIncomplete();
                boolean last = chunk.isLast();
                try {
                    keep(chunk);
                } finally {
                    chunk.release();
                }
                if (last || received > maxReadBytes) break;
            }
            if (received > maxBytes) throw ErrorMapping.bodyTooLarge(maxBytes);
            finish();
            return true;
        } catch (Problem problem) {
            finish();
            throw problem;
        }
    }

    private void keep(Content.Chunk chunk) {
        int length = chunk.remaining();
        received += length;
        if (received > maxBytes) {
            body.reset();
            return;
        }
        memory.add((long) COPIES * length);
        byte[] part = new byte[length];
        chunk.getByteBuffer().get(part);
        body.writeBytes(part);
    }

    private void finish() {
        done = true;
        if (timeout != null) timeout.cancel();
    }

    private long allowedNanos() {
        long atMinRate = received * (TimeUnit.SECONDS.toNanos(1) / MIN_BYTES_PER_SECOND);
        return Math.min(MAX_TIME.toNanos(), grace.toNanos() + atMinRate);
    }

    private void scheduleTimeout() {
        long left = allowedNanos() - (System.nanoTime() - beganNanos);
        timeout = scheduler.schedule(this::onTimeout, Math.max(1, left), TimeUnit.NANOSECONDS);
    }

    private void onTimeout() {
        synchronized (this) {
            if (done) return;
            if (System.nanoTime() - beganNanos < allowedNanos()) {
                scheduleTimeout();
                return;
            }
            done = true;
        }
        receiver.onProblem(
                Problem.of(
                        400,
                        "body-incomplete",
                        ("The body arrived too slowly: it must have at least %d bytes per second after %d seconds, and"
                                        + " be complete after %d seconds. Send it again.")
                                .formatted(MIN_BYTES_PER_SECOND, grace.toSeconds(), MAX_TIME.toSeconds())),
                true);
    }
}
