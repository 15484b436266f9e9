package io.carillon.dashboard;

import io.carillon.server.http.ApiResponse;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.WriteListener;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/**
 * Sends a stream part by part, without a thread that waits: a part is read a second after the previous one was sent.
 * The stream ends after half a minute, and the browser continues it with a new request, which the application
 * authorizes again.
 */
final class ServletStream implements WriteListener {
    private static final long INTERVAL_MILLIS = 1_000;
    private static final long MAX_NANOS = Duration.ofSeconds(30).toNanos();

    private final ApiResponse.Streaming stream;
    private final AsyncContext context;
    private final ServletOutputStream out;
    private final ScheduledExecutorService threads;
    private final long endNanos = System.nanoTime() + MAX_NANOS;
    /** Whether the container calls back when it can take more bytes. */
    private boolean awaitsCall = true;

    private boolean unsent;
    private boolean ended;

    private ServletStream(
            ApiResponse.Streaming stream,
            AsyncContext context,
            ServletOutputStream out,
            ScheduledExecutorService threads) {
        this.stream = stream;
        this.context = context;
        this.out = out;
        this.threads = threads;
    }

    static void start(
            ApiResponse.Streaming stream,
            HttpServletRequest request,
            HttpServletResponse response,
            ScheduledExecutorService threads)
            throws IOException {
        AsyncContext context = request.startAsync(request, response);
        context.setTimeout(0);
        ServletOutputStream out = response.getOutputStream();
        out.setWriteListener(new ServletStream(stream, context, out, threads));
    }

    @Override
    public synchronized void onWritePossible() {
        if (!awaitsCall) return;
        awaitsCall = false;
        schedule(0);
    }

    @Override
    public synchronized void onError(Throwable disconnected) {
        end();
    }

    private void schedule(long millis) {
        try {
            ScheduledFuture<?> unused = threads.schedule(this::step, millis, TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException closed) {
            end();
        }
    }

    private synchronized void step() {
        if (ended) return;
        try {
            if (isBlocked()) return;
            Optional<byte[]> part = unsent ? Optional.of(new byte[0]) : nextPart();
            if (part.isEmpty()) {
                end();
                return;
            }
            if (!unsent) out.write(part.get());
            unsent = true;
            if (isBlocked()) return;
            out.flush();
            unsent = false;
            schedule(INTERVAL_MILLIS);
        } catch (IOException | RuntimeException disconnected) {
            end();
        }
    }

    private boolean isBlocked() {
        awaitsCall = !out.isReady();
        return awaitsCall;
    }

    private Optional<byte[]> nextPart() {
        return System.nanoTime() < endNanos ? stream.next() : Optional.empty();
    }

    private void end() {
        if (ended) return;
        ended = true;
        stream.close();
        try {
            context.complete();
        } catch (IllegalStateException already) {
            // The container ended the request, because the browser is gone.
        }
    }
}
