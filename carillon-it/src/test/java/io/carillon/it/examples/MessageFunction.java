package io.carillon.it.examples;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.carillon.Carillon;
import io.carillon.Wakeup;
import io.carillon.run.HandlerType;
import io.carillon.spi.Keyring;
import io.carillon.spi.MessageEndpoint;
import io.carillon.spi.WakeTransport;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.function.Consumer;
import javax.sql.DataSource;

/**
 * A function to which a queue pushes its messages over HTTP. The platform starts an instance when messages arrive, and
 * stops it when there are none.
 */
public final class MessageFunction implements AutoCloseable {
    record Greeting(String to) {}

    static final HandlerType<Greeting> GREET = HandlerType.of("greeting", Greeting.class);

    private final Carillon carillon;
    private final MessageEndpoint endpoint;
    private final HttpServer server;

    /** Called once for each instance of the function. Two connections are enough. */
    public MessageFunction(DataSource dataSource, WakeTransport transport, Keyring keys, Consumer<String> greet)
            throws IOException {
        carillon = Carillon.on(dataSource)
                .wakeup(Wakeup.queue(transport).messagePerRun(keys, Duration.ofDays(1)))
                .handle(GREET, (greeting, run) -> greet.accept(greeting.to()))
                .build();
        endpoint = new MessageEndpoint(carillon::consume);
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/messages", this::answer);
        server.start();
    }

    public URI address() {
        return URI.create("http://localhost:" + server.getAddress().getPort() + "/messages");
    }

    private void answer(HttpExchange exchange) throws IOException {
        MessageEndpoint.Response response =
                endpoint.answer(exchange.getRequestBody().readNBytes(2 << 20));
        byte[] body = response.body().getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.sendResponseHeaders(response.status(), body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }

    @Override
    public void close() {
        server.stop(0);
        carillon.close();
    }
}
