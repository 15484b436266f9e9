package io.carillon.server.http;

import static java.util.Objects.requireNonNull;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.jspecify.annotations.Nullable;

/**
 * Sends streams part by part. A few threads serve all streams: a stream uses one only while its next part is
 * read from the database, and none while it waits or while its client is slow. The streams of a project use one thread
 * together, so that a project whose parts are read slowly does not delay the streams of others.
 */
final class StreamWriters implements AutoCloseable {
    private static final long INTERVAL_MILLIS = 1_000;
    private static final long MAX_CLOSE_SECONDS = 3;

    private final ScheduledExecutorService threads;
    /** The streams that wait for an earlier stream of their project. A project with a step in progress has an entry. */
    private final Map<String, Deque<Writer>> waitingByProject = new HashMap<>();

    private volatile boolean closing;

    /** Uses these threads and ends them. At shutdown, the next step of each stream still runs, and ends it. */
    StreamWriters(ScheduledExecutorService threads) {
        this.threads = threads;
    }

    /** Starts to send a stream as the content of a response. The stream is closed at its end. */
    void start(ApiResponse.Streaming stream, Response response, Callback callback) {
        new Writer(stream, response, callback).schedule(0);
    }

    @Override
    public void close() {
        closing = true;
        threads.shutdown();
        try {
            if (!threads.awaitTermination(MAX_CLOSE_SECONDS, TimeUnit.SECONDS)) threads.shutdownNow();
        } catch (InterruptedException interrupted) {
            threads.shutdownNow();
            Thread.currentThread().interrupt();
        }
    }

    private void runInTurn(Writer writer) {
        String project = writer.stream.project();
        synchronized (waitingByProject) {
            Deque<Writer> waiting = waitingByProject.get(project);
            if (waiting != null) {
                waiting.addLast(writer);
                return;
            }
            waitingByProject.put(project, new ArrayDeque<>());
        }
        runAndContinue(project, writer);
    }

    /** Runs a step, and lets the next one of the project follow behind the steps of other projects. */
    private void runAndContinue(String project, Writer first) {
        Writer writer = first;
        while (writer != null) {
            writer.step();
            Writer next = nextOf(project);
            if (next != null && tryExecute(() -> runAndContinue(project, next))) return;
            writer = next;
        }
    }

    private @Nullable Writer nextOf(String project) {
        synchronized (waitingByProject) {
            Writer next = requireNonNull(waitingByProject.get(project)).pollFirst();
            if (next == null) waitingByProject.remove(project);
            return next;
        }
    }

    /** Returns false after the threads have been ended; then the caller runs the task. */
    private boolean tryExecute(Runnable task) {
        try {
            threads.execute(task);
            return true;
        } catch (RejectedExecutionException closed) {
            return false;
        }
    }

    /** Sends one stream. The next part is asked for when the previous one was sent, so calls never overlap. */
    private final class Writer {
        private final ApiResponse.Streaming stream;
        private final Response response;
        private final Callback callback;
        private final AtomicBoolean closed = new AtomicBoolean();

        Writer(ApiResponse.Streaming stream, Response response, Callback callback) {
            this.stream = stream;
            this.response = response;
            this.callback = callback;
        }

        void schedule(long millis) {
            try {
                ScheduledFuture<?> unused = threads.schedule(() -> runInTurn(this), millis, TimeUnit.MILLISECONDS);
            } catch (RejectedExecutionException closed) {
                end();
            }
        }

        private void step() {
            Optional<byte[]> part = nextPart();
            try {
                if (part.isEmpty()) end();
                else
                    response.write(
                            false,
                            ByteBuffer.wrap(part.get()),
                            Callback.from(() -> schedule(INTERVAL_MILLIS), this::onDisconnected));
            } catch (RuntimeException ended) {
                // Jetty has ended the exchange meanwhile.
                closeOnce();
            }
        }

        /** Returns empty if the stream fails: the client connects again, and gets the reason as its response. */
        private Optional<byte[]> nextPart() {
            if (closing) return Optional.empty();
            try {
                return stream.next();
            } catch (RuntimeException failure) {
                return Optional.empty();
            }
        }

        private void end() {
            closeOnce();
            response.write(true, ByteBuffer.allocate(0), callback);
        }

        /** Streams normally end this way: the client closed the connection. */
        private void onDisconnected(Throwable failure) {
            closeOnce();
            callback.failed(failure);
        }

        private void closeOnce() {
            if (closed.compareAndSet(false, true)) stream.close();
        }
    }
}
