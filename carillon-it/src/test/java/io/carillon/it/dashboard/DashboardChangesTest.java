package io.carillon.it.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.WaitForSelectorState;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

/** Users start, limit and delete on the pages; each change is asked for and can be seen at once. */
class DashboardChangesTest {
    @RegisterExtension
    static final DashboardBrowser BROWSER = new DashboardBrowser();

    private static Locator button(Page page, String name) {
        return page.locator("main button:has-text('" + name + "')").first();
    }

    private static void confirm(Page page, String name) {
        Locator dialog = page.locator("dialog button[type=submit]:has-text('" + name + "')");
        dialog.click();
        dialog.waitFor(new Locator.WaitForOptions().setState(WaitForSelectorState.DETACHED));
    }

    private static JsonNode get(String path) {
        return BROWSER.server().get(path);
    }

    @Test
    void a_schedule_is_started_now_backfilled_after_a_count_and_deleted() {
        BROWSER.server()
                .call(
                        "PUT",
                        "/v1/schedules/by.hand",
                        "{\"when\":{\"every\":{\"amount\":6,\"unit\":\"hours\",\"start\":\"2026-01-01T00:00:00Z\"}},"
                                + "\"target\":{\"handler\":\"fine\"}}");
        Page page = BROWSER.loggedIn();
        BROWSER.show(page, "/schedules/by.hand");

        button(page, "Run now").click();
        page.locator("dialog button[type=submit], .toasts :text('run')").first().waitFor();
        if (page.locator("dialog button[type=submit]").count() > 0) page.click("dialog button[type=submit]");
        page.waitForCondition(
                () -> get("/v1/runs?schedule=by.hand").path("items").size() > 0);

        BROWSER.show(page, "/schedules/by.hand");
        button(page, "Backfill").click();
        page.click("dialog button[type=submit]:has-text('Count runs')");
        Locator create = page.locator("dialog button[type=submit]:has-text('Create')");
        create.waitFor();
        assertThat(create.innerText()).matches("Create [34] runs");
        create.click();
        page.waitForCondition(
                () -> get("/v1/runs?schedule=by.hand").path("items").size() >= 4);

        BROWSER.show(page, "/schedules/by.hand");
        button(page, "Delete").click();
        page.fill("#field-typed", "by.hand");
        confirm(page, "Delete");
        page.waitForFunction("() => location.hash.startsWith('#/schedules') && !location.hash.includes('by.hand')");
        assertThat(get("/v1/schedules?prefix=by.hand").path("items").size()).isZero();
    }

    @Test
    void a_queue_gets_limits_and_a_weight() {
        BROWSER.server().enqueue("fine", "{}", ",\"after\":\"1h\",\"queue\":\"limited\"");
        Page page = BROWSER.loggedIn();
        BROWSER.show(page, "/queues?name=limited");

        button(page, "Limits").click();
        page.fill("#field-maxRunning", "7");
        page.fill("#field-perSecond", "2.5");
        confirm(page, "Save");
        button(page, "Weight").click();
        page.fill("#field-weight", "4");
        confirm(page, "Save");

        page.locator("main dd:has-text('2.5')").waitFor();
        JsonNode queue = get("/v1/queues/limited");
        assertThat(queue.path("maxRunning").asInt()).isEqualTo(7);
        assertThat(queue.path("perSecond").asDouble()).isEqualTo(2.5);
        assertThat(queue.path("weight").asInt()).isEqualTo(4);
    }

    @Tag("slow")
    @Test
    void a_waiting_run_is_started_now() {
        String run = BROWSER.server().enqueue("fine", "{}", ",\"after\":\"9h\"");
        Page page = BROWSER.loggedIn();
        BROWSER.show(page, "/runs/" + run);

        button(page, "Run now").click();
        page.locator(".toasts :text('The run is due now')").first().waitFor();
        BROWSER.server().runDue();

        assertThat(get("/v1/runs/" + run).path("state").asString()).isEqualTo("succeeded");
        page.locator("main .state:has-text('Succeeded')").first().waitFor();
    }

    @Test
    void a_key_is_shown_once_and_revoked() {
        Page page = BROWSER.loggedIn();
        BROWSER.show(page, "/settings/keys");

        button(page, "New key").click();
        page.fill("#field-key-name", "made-by-hand");
        page.click("dialog button[type=submit]");
        Locator shown = page.locator("dialog pre");
        shown.waitFor();
        String key = shown.innerText();
        page.keyboard().press("Escape");
        Locator row = page.locator("tr:has-text('made-by-hand')");
        row.waitFor();
        assertThat(key).startsWith("crl_");
        assertThat(page.locator("body").innerText()).doesNotContain(key);
        row.locator("button:has-text('Revoke')").click();
        confirm(page, "Revoke key");

        page.locator("tr:has-text('made-by-hand'):has-text('Revoked')").waitFor();
    }
}
