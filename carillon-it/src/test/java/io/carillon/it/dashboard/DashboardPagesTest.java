package io.carillon.it.dashboard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.ColorScheme;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Every page of the dashboard opens without an error, is accessible in both themes, and fits narrow screens. */
class DashboardPagesTest {
    @RegisterExtension
    static final DashboardBrowser BROWSER = new DashboardBrowser();

    private static final String LONG = "reports.of-all-customers-in-a-region-with-a-very-long-name.every-quarter";

    private static List<String> views;
    private static String axe;

    @BeforeAll
    static void prepareData() throws IOException {
        try (InputStream in = DashboardPagesTest.class.getResourceAsStream("/axe-core/axe.min.js")) {
            axe = new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
        DashboardServer server = BROWSER.server();
        server.schedule("nightly");
        server.schedule(LONG);
        server.call(
                "POST", "/v1/schedules/" + LONG + "/pause", "{\"reason\":\"" + "A long reason. ".repeat(12) + "\"}");
        server.call("POST", "/v1/endpoints", "{\"name\":\"crm\",\"url\":\"https://crm.example/hooks/carillon\"}");
        server.enqueue("fine", "{\"a\":1}", ",\"after\":\"1h\"");
        server.enqueue("no.handler-of-this-name", "{}", "");
        server.call("PUT", "/v1/queues/mail/limits", "{\"maxRunning\":3,\"perSecond\":2}");
        server.call("POST", "/v1/queues/mail/pause", "{\"reason\":\"maintenance\"}");
        String dead = server.makeDead("orders", "connection to orders.example timed out after 30 s");
        String workflow = server.enqueue("checkout", "{\"order\":7}", "");
        server.runDue();
        String bulk = server.call(
                        "POST",
                        "/v1/bulk-actions",
                        "{\"action\":\"redrive\",\"filter\":{\"state\":\"dead\",\"queue\":\"none\"}}")
                .path("id")
                .asString();
        String event = server.call(
                        "POST",
                        "/v1/events",
                        "{\"topic\":\"orders\",\"type\":\"order.placed\",\"key\":\"17\",\"data\":{\"amount\":4200}}")
                .path("event")
                .asString();
        server.call(
                "POST",
                "/v1/subscriptions",
                "{\"name\":\"" + LONG + "\",\"topic\":\"orders\",\"types\":[\"order.*\",\"invoice.sent\"],"
                        + "\"target\":{\"endpoint\":\"crm\"},\"inOrder\":true}");
        server.call("POST", "/v1/subscriptions/" + LONG + "/pause", "{\"reason\":\"maintenance\"}");
        views = List.of(
                "/",
                "/schedules",
                "/schedules/" + LONG,
                "/schedules/nightly",
                "/schedules/nightly/edit",
                "/schedules/new",
                "/timeline",
                "/timeline?view=7d",
                "/runs",
                "/runs?q=state%3Acancelled",
                "/runs?q=nonsense",
                "/runs/" + dead,
                "/runs/" + workflow,
                "/queues?name=mail",
                "/dead",
                "/events",
                "/events?topic=orders",
                "/events/" + event,
                "/subscriptions/" + LONG,
                "/endpoints",
                "/endpoints/crm",
                "/nodes",
                "/bulk/" + bulk,
                "/audit",
                "/settings/display",
                "/settings/keys",
                "/settings/project",
                "/settings/projects",
                "/no-such-page");
    }

    @Test
    void every_page_opens_without_errors_and_is_accessible() {
        openAndCheckEveryPage(ColorScheme.LIGHT);
    }

    @Tag("slow")
    @Test
    void every_dark_page_opens_without_errors_and_is_accessible() {
        openAndCheckEveryPage(ColorScheme.DARK);
    }

    private static void openAndCheckEveryPage(ColorScheme colors) {
        Page page = BROWSER.open(new com.microsoft.playwright.Browser.NewContextOptions()
                .setColorScheme(colors)
                .setReducedMotion(com.microsoft.playwright.options.ReducedMotion.REDUCE));
        List<String> violations = new ArrayList<>(violationsAt(page, "login"));
        BROWSER.logIn(page, BROWSER.server().key());

        for (String view : views) {
            BROWSER.show(page, view);
            assertThat(page.locator(".notice[role=alert]").allInnerTexts())
                    .as(view)
                    .isEmpty();
            violations.addAll(violationsAt(page, view));
        }

        assertThat(violations).isEmpty();
    }

    /** Returns what axe-core calls serious or critical, and the elements. */
    @SuppressWarnings("unchecked")
    private static List<String> violationsAt(Page page, String view) {
        if (Boolean.FALSE.equals(page.evaluate("() => Boolean(window.axe)"))) page.evaluate(axe);
        List<String> found = (List<String>) page.evaluate("""
                async () => (await axe.run(document, {
                  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
                  resultTypes: ['violations'],
                })).violations.filter(one => one.impact === 'serious' || one.impact === 'critical')
                  .flatMap(one => one.nodes.slice(0, 3).map(node => one.id + ': ' + node.html.slice(0, 160) + ' '
                    + (node.any[0] ? node.any[0].message : '')))""");
        return found.stream().map(violation -> view + " " + violation).toList();
    }

    @Test
    void every_page_fits_a_screen_of_360_pixels() {
        Page page = BROWSER.loggedIn(ColorScheme.LIGHT, 360, 740);
        List<String> tooWide = new ArrayList<>();

        for (String view : views) {
            BROWSER.show(page, view);
            int beyond = (Integer) page.evaluate("() => document.documentElement.scrollWidth - window.innerWidth");
            if (beyond > 0) tooWide.add(view + " is " + beyond + " px too wide");
        }

        assertThat(tooWide).isEmpty();
    }

    @Test
    void a_narrow_screen_has_a_menu_that_opens_and_closes() {
        Page page = BROWSER.loggedIn(ColorScheme.DARK, 360, 740);
        assertThat(page.locator("#side").isVisible()).isFalse();

        page.click("button[aria-label=Menu]");
        page.click("#side a[href='#/queues']");

        page.locator("h1:has-text('Queues')").waitFor();
        page.locator("#side").waitFor(hidden());
        if (page.locator("#side").isVisible()) fail("the menu is still open");
    }

    private static com.microsoft.playwright.Locator.WaitForOptions hidden() {
        return new com.microsoft.playwright.Locator.WaitForOptions()
                .setState(com.microsoft.playwright.options.WaitForSelectorState.HIDDEN);
    }

    @Test
    void an_unknown_run_and_a_failed_request_say_what_to_do() {
        Page page = BROWSER.loggedIn();

        BROWSER.show(page, "/runs/run_01m7s32q5be008wztk443rkcfc");
        page.locator(".notice[role=alert]").waitFor();

        assertThat(page.locator(".notice[role=alert]").innerText()).contains("Not found", "deleted", "Try again");
        BROWSER.expectConsoleErrors("404");
    }
}
