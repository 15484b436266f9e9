package io.carillon.it.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Users send a test to an endpoint and replay a delivery, and read what its receiver answered. */
class DashboardEndpointsTest {
    @RegisterExtension
    static final DashboardBrowser BROWSER = new DashboardBrowser();

    /** A request that the receiver got. */
    private record Received(String id, String body) {}

    private static final List<Received> RECEIVED = new CopyOnWriteArrayList<>();
    private static volatile int status;
    private static HttpServer receiver;

    @BeforeAll
    static void listen() throws IOException {
        receiver = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 100);
        receiver.createContext("/", DashboardEndpointsTest::answer);
        receiver.start();
        endpoint("tested", receiver.getAddress().getPort());
    }

    private static void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            RECEIVED.add(new Received(
                    exchange.getRequestHeaders().getFirst("webhook-id"),
                    new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8)));
            byte[] text = "<b>answer %d</b>".formatted(status).getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().set("content-type", "text/html");
            exchange.sendResponseHeaders(status, text.length);
            exchange.getResponseBody().write(text);
        }
    }

    private static void endpoint(String name, int port) {
        BROWSER.server()
                .call(
                        "POST",
                        "/v1/endpoints",
                        "{\"name\":\"%s\",\"url\":\"http://127.0.0.1:%d/hook\"}".formatted(name, port));
    }

    @AfterAll
    static void stop() {
        receiver.stop(0);
    }

    @BeforeEach
    void accept() {
        status = 200;
        RECEIVED.clear();
    }

    /** Opens the dialog of a test send on the page of an endpoint. */
    private static Page testing(String endpoint) {
        Page page = BROWSER.loggedIn();
        BROWSER.show(page, "/endpoints/" + endpoint);
        page.click("main button:has-text('Test send')");
        page.locator("#field-test-payload").waitFor();
        return page;
    }

    private static void send(Page page) {
        page.click("dialog button[type=submit]");
    }

    private static Locator inDialog(Page page, String text) {
        return page.locator("dialog :text('" + text + "')").first();
    }

    private static Locator absent(Page page, String selector) {
        Locator locator = page.locator(selector);
        locator.waitFor(
                new Locator.WaitForOptions().setState(com.microsoft.playwright.options.WaitForSelectorState.DETACHED));
        return locator;
    }

    @Test
    void a_test_send_shows_the_answer_of_the_receiver() {
        Page page = testing("tested");
        page.fill("#field-test-payload", "{\"amount\":12345678901234567890}");

        send(page);

        inDialog(page, "delivered").waitFor();
        inDialog(page, "<b>answer 200</b>").waitFor();
        assertThat(RECEIVED).extracting(Received::body).containsExactly("{\"amount\":12345678901234567890}");
    }

    @Test
    void a_failed_test_send_says_what_is_wrong_and_shows_no_older_answer() {
        Page page = testing("tested");
        send(page);
        inDialog(page, "<b>answer 200</b>").waitFor();

        page.fill("#field-test-payload", "{\"amount\":");
        send(page);

        page.locator("dialog [role=alert]:has-text('The body is not valid JSON')")
                .waitFor();
        absent(page, "dialog :text('<b>answer 200</b>')");
        page.fill("#field-test-payload", "1");
        status = 500;
        send(page);
        inDialog(page, "<b>answer 500</b>").waitFor();
        inDialog(page, "failed").waitFor();
        absent(page, "dialog [role=alert]");
        assertThat(RECEIVED).hasSize(2);
    }

    @Test
    void a_test_send_to_a_receiver_that_is_down_shows_why_it_was_not_sent() throws IOException {
        int port;
        try (ServerSocket closed = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = closed.getLocalPort();
        }
        endpoint("down", port);
        Page page = testing("down");

        send(page);

        inDialog(page, "unreachable").waitFor();
        page.locator("dialog dt:has-text('Note')").waitFor();
        page.locator("dialog code:text-is('http://127.0.0.1:" + port + "/hook')")
                .waitFor();
    }

    @Test
    void a_delivery_of_an_endpoint_is_replayed_and_its_answer_is_shown() {
        String run = BROWSER.server()
                .call("POST", "/v1/runs", "{\"target\":{\"endpoint\":\"tested\"},\"payload\":{\"order\":17}}")
                .path("run")
                .asString();
        BROWSER.server().runDue();
        Page page = BROWSER.loggedIn();
        BROWSER.show(page, "/endpoints/tested");
        page.locator("main tr:has-text('Succeeded') a.main-link").first().click();
        page.waitForFunction("id => location.hash === '#/runs/' + id", run);
        status = 503;

        page.click("main button:has-text('Replay request')");
        page.click("dialog button[type=submit]");

        page.locator("dialog h2:has-text('Answer of the receiver')").waitFor();
        inDialog(page, "<b>answer 503</b>").waitFor();
        inDialog(page, "slow-down").waitFor();
        assertThat(RECEIVED).hasSize(2);
        assertThat(RECEIVED.get(1)).isEqualTo(RECEIVED.get(0));
        assertThat(BROWSER.server().get("/v1/runs/" + run).path("state").asString())
                .isEqualTo("succeeded");
    }
}
