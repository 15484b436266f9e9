package io.carillon.server.http;

import java.nio.ByteBuffer;
import java.util.concurrent.TimeoutException;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/** One request in Jetty: reads its body if it has one, lets the dispatcher execute it, and sends the response. */
final class HttpExchange implements BodyReader.Receiver {
    private final RequestDispatcher dispatcher;
    private final RequestDispatcher.PendingRequest pending;
    private final JettyServer.Limits limits;
    private final StreamWriters streams;
    private final Request request;
    private final Response response;
    private final Callback callback;
    private final MemoryBudget.Reservation memory;

    HttpExchange(
            RequestDispatcher dispatcher,
            RequestDispatcher.PendingRequest pending,
            JettyServer.Limits limits,
            StreamWriters streams,
            Request request,
            Response response,
            Callback callback) {
        this.dispatcher = dispatcher;
        this.pending = pending;
        this.limits = limits;
        this.streams = streams;
        this.request = request;
        this.response = response;
        this.callback = callback;
        this.memory = dispatcher.memory().reserveNothing(pending.project());
    }

    void start() {
        ApiResponse refusal = pending.refusal();
        if (refusal != null) send(refusal);
        else if (!pending.hasBody()) onBody(new byte[0]);
        else
            new BodyReader(
                            request,
                            pending.maxBodyBytes(),
                            RequestDispatcher.MAX_READ_BYTES,
                            limits.bodyGrace(),
                            memory,
                            this)
                    .start();
    }

    @Override
    public void onBody(byte[] body) {
        ApiResponse apiResponse;
        try {
            apiResponse = dispatcher.execute(pending, body, memory);
        } catch (Error failure) {
            // Such as no memory. Jetty answers 500 and logs the cause.
            memory.close();
            callback.failed(failure);
            return;
        }
        send(apiResponse);
    }

    @Override
    public void onProblem(Problem problem, boolean waiting) {
        memory.close();
        ApiResponse apiResponse = dispatcher.refuse(pending, problem);
        if (!waiting) {
            send(apiResponse);
            return;
        }
        // Jetty does not complete an exchange that waits for more of the body. It ends one that fails.
        writeHead(apiResponse);
        response.getHeaders().put("Connection", "close");
        response.write(
                true,
                ByteBuffer.wrap(apiResponse.body()),
                Callback.from(() -> callback.failed(new TimeoutException("body too slow")), callback::failed));
    }

    private void send(ApiResponse apiResponse) {
        writeHead(apiResponse);
        // Jetty closes the connection when a request is rejected before its body was read; the header says so, so
        // that the client does not reuse the connection.
        if (!request.consumeAvailable()) response.getHeaders().put("Connection", "close");
        ApiResponse.Streaming stream = apiResponse.stream();
        if (stream != null) streams.start(stream, response, callback);
        else response.write(true, ByteBuffer.wrap(apiResponse.body()), Callback.from(callback, memory::close));
    }

    private void writeHead(ApiResponse apiResponse) {
        response.setStatus(apiResponse.status());
        apiResponse.headers().forEach((name, value) -> {
            response.getHeaders().remove(name);
            for (String line : value.split(ApiResponse.LINE_END, -1))
                response.getHeaders().add(name, line);
        });
    }
}
