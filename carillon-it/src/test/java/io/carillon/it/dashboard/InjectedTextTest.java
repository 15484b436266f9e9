package io.carillon.it.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Page;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.json.JsonMapper;

/** Text of users that looks like markup or script is shown as text, on every page and in every address. */
class InjectedTextTest {
    @RegisterExtension
    static final DashboardBrowser BROWSER = new DashboardBrowser();

    private static final List<String> CORPUS = List.of(
            "<img src=x onerror=\"window.__injected=1\">",
            "<script>window.__injected=1</script>",
            "\"><svg onload=window.__injected=1>",
            "'-window.__injected=1-'",
            "javascript:window.__injected=1",
            "${window.__injected=1}{{constructor.constructor('window.__injected=1')()}}",
            "</textarea><iframe srcdoc=\"<script>parent.__injected=1</script>\">",
            "<a href=javascript:window.__injected=1>x</a>",
            "\u202Etxt.exe<math><mtext><style><img src=x onerror=window.__injected=1>");

    private static final JsonMapper JSON = new JsonMapper();
    private static String dead;
    private static String waiting;

    @BeforeAll
    static void storeTheCorpus() {
        DashboardServer server = BROWSER.server();
        String all = String.join(" ", CORPUS);
        String quoted = JSON.writeValueAsString(all);
        for (String text : CORPUS) {
            String one = JSON.writeValueAsString(text);
            dead = server.makeDead("injected", text);
            waiting = server.enqueue(
                    "fine",
                    "{" + one + ":" + one + ",\"type\":\"img\",\"props\":{\"src\":\"x\"}}",
                    ",\"after\":\"1h\",\"queue\":\"injected\",\"key\":" + one);
            server.createKey(text.substring(0, Math.min(60, text.length())).replace('\u202E', ' '), "[\"read\"]");
        }
        server.call("POST", "/v1/runs/" + waiting + "/cancel", "{\"reason\":" + quoted + "}");
        server.schedule("injected");
        server.call("POST", "/v1/schedules/injected/pause", "{\"reason\":" + quoted + "}");
        server.call("POST", "/v1/queues/injected/pause", "{\"reason\":" + quoted + "}");
        server.call(
                "PUT",
                "/v1/schedules/injected.url",
                "{\"when\":{\"cron\":\"0 2 * * *\",\"zone\":\"UTC\"},\"target\":{\"url\":"
                        + "\"https://example.com/?a=%3Cscript%3E&b='onmouseover='window.__injected=1\","
                        + "\"headers\":{\"x-text\":\"<script>window.__injected=1</script>\"}},\"payload\":" + quoted
                        + "}");
    }

    @Test
    void stored_text_is_inert_on_every_page() {
        Page page = BROWSER.loggedIn();

        for (String view : List.of(
                "/",
                "/runs?q=queue%3Ainjected",
                "/runs/" + dead,
                "/runs/" + waiting,
                "/dead",
                "/schedules",
                "/schedules/injected",
                "/schedules/injected.url",
                "/schedules/injected.url/edit",
                "/timeline",
                "/queues?name=injected",
                "/endpoints",
                "/audit",
                "/settings/keys")) {
            BROWSER.show(page, view);
            assertThat(page.locator("img, iframe, object, embed, main script, a[href^='javascript:' i]")
                            .count())
                    .as(view)
                    .isZero();
        }

        BROWSER.show(page, "/schedules/injected");
        assertThat(page.locator(".notice").first().innerText()).contains(CORPUS.get(0), CORPUS.get(1));
    }

    @Tag("slow")
    @Test
    void text_in_the_address_is_inert() {
        Page page = BROWSER.loggedIn();

        for (String text : CORPUS) {
            String encoded = URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
            for (String view : List.of("/runs?q=", "/audit?action=", "/queues?name=", "/dead/", "/bulk/"))
                BROWSER.show(page, view + encoded);
            BROWSER.show(page, "/runs?q=error%3A%22" + encoded.replace("%22", "") + "%22");
            assertThat(page.locator("img, iframe, main script").count()).isZero();
        }
        BROWSER.expectConsoleErrors("40");
    }
}
