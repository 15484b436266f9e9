package io.carillon.it.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

/** Users change runs, schedules and queues on the pages, with the mouse and with the keyboard. */
class DashboardActionsTest {
    @RegisterExtension
    static final DashboardBrowser BROWSER = new DashboardBrowser();

    private static String stateOf(String run) {
        return BROWSER.server().get("/v1/runs/" + run).path("state").asString();
    }

    private static Locator button(Page page, String name) {
        return page.locator("main button:has-text('" + name + "')").first();
    }

    private static void confirm(Page page) {
        page.click("dialog button[type=submit]");
        page.locator("dialog").waitFor(gone());
    }

    private static Locator.WaitForOptions gone() {
        return new Locator.WaitForOptions().setState(com.microsoft.playwright.options.WaitForSelectorState.DETACHED);
    }

    private static void waitForText(Page page, String text) {
        page.locator("main :text('" + text + "'), .toasts :text('" + text + "')")
                .first()
                .waitFor();
    }

    @Test
    void a_waiting_run_is_cancelled_after_a_question() {
        String run = BROWSER.server().enqueue("fine", "{}", ",\"after\":\"1h\"");
        Page page = BROWSER.loggedIn();
        BROWSER.show(page, "/runs/" + run);

        button(page, "Cancel").click();
        assertThat(stateOf(run)).isEqualTo("waiting");
        page.fill("#field-reason", "no longer needed");
        confirm(page);

        waitForText(page, "Cancelled");
        JsonNode cancelled = BROWSER.server().get("/v1/runs/" + run);
        assertThat(cancelled.path("state").asString()).isEqualTo("cancelled");
        assertThat(cancelled.path("reason").asString()).isEqualTo("no longer needed");
    }

    @Test
    void a_dead_run_is_redriven_with_an_edited_payload_whose_numbers_stay_exact() {
        String run = BROWSER.server().makeDead("edited", "first failure");
        Page page = BROWSER.loggedIn();
        BROWSER.show(page, "/runs/" + run);

        button(page, "Edit and redrive").click();
        page.fill("#field-payload", "{\"id\":12345678901234567890,\"error\":\"second failure\"}");
        confirm(page);

        page.waitForFunction("old => location.hash.startsWith('#/runs/run_') && !location.hash.endsWith(old)", run);
        BROWSER.settle(page);
        page.locator("pre:has-text('12345678901234567890')").waitFor();
    }

    @Test
    void a_schedule_is_paused_with_a_reason_and_the_pause_is_undone() {
        BROWSER.server().schedule("paused.by.hand");
        Page page = BROWSER.loggedIn();
        BROWSER.show(page, "/schedules/paused.by.hand");

        button(page, "Pause").click();
        page.fill("#field-reason", "waiting for <b>Ann</b>");
        confirm(page);
        waitForText(page, "waiting for <b>Ann</b>");
        assertThat(BROWSER.server()
                        .get("/v1/schedules/paused.by.hand")
                        .at("/paused/reason")
                        .asString())
                .isEqualTo("waiting for <b>Ann</b>");

        page.click(".toast button:has-text('Undo')");
        button(page, "Pause").waitFor();
        assertThat(BROWSER.server().get("/v1/schedules/paused.by.hand").has("paused"))
                .isFalse();
    }

    @Test
    void a_schedule_is_created_with_a_live_explanation() {
        Page page = BROWSER.loggedIn();
        BROWSER.show(page, "/schedules/new");

        page.fill("#field-name", "made.by.form");
        page.fill("#field-handler", "fine");
        page.fill("#field-cron", "30 6 * * MON");
        page.fill("#field-zone", "America/New_York");
        page.locator(".explain:has-text('06:30')").waitFor();
        assertThat(page.locator(".preview-list li").count()).isEqualTo(10);
        page.fill("#field-cron", "61 6 * * MON");
        page.locator(".explain .error-text").waitFor();
        page.fill("#field-cron", "30 6 * * MON");
        page.locator(".explain:has-text('06:30')").waitFor();
        page.click("main button[type=submit]");

        page.waitForFunction("() => location.hash === '#/schedules/made.by.form'");
        JsonNode made = BROWSER.server().get("/v1/schedules/made.by.form");
        assertThat(made.at("/when/cron").asString()).isEqualTo("30 6 * * MON");
        assertThat(made.at("/when/zone").asString()).isEqualTo("America/New_York");
        BROWSER.expectConsoleErrors("42");
        BROWSER.expectConsoleErrors("400");
    }

    @Test
    void editing_a_schedule_keeps_what_the_form_does_not_show() {
        BROWSER.server()
                .call(
                        "PUT",
                        "/v1/schedules/edited.by.form",
                        "{\"when\":{\"every\":{\"amount\":2,\"unit\":\"days\",\"start\":\"2026-01-01T07:00:00Z\"},"
                                + "\"zone\":\"UTC\",\"maxRuns\":9},\"target\":{\"handler\":\"fine\"},"
                                + "\"payload\":{\"n\":12345678901234567890},\"missed\":\"run-all\",\"missedCap\":7,"
                                + "\"retry\":{\"attempts\":3,\"first\":\"PT7S\"},\"timeout\":\"PT90S\"}");
        Page page = BROWSER.loggedIn();
        BROWSER.show(page, "/schedules/edited.by.form/edit");

        page.selectOption("#field-priority", "high");
        page.click("main button[type=submit]");
        page.waitForFunction("() => location.hash === '#/schedules/edited.by.form'");

        JsonNode edited = BROWSER.server().get("/v1/schedules/edited.by.form");
        assertThat(edited.path("priority").asString()).isEqualTo("high");
        assertThat(edited.at("/when/every/start").asString()).isEqualTo("2026-01-01T07:00:00Z");
        assertThat(edited.at("/when/maxRuns").asInt()).isEqualTo(9);
        assertThat(edited.path("missedCap").asInt()).isEqualTo(7);
        assertThat(edited.at("/retry/first").asString()).isEqualTo("PT7S");
        assertThat(edited.path("timeout").asString()).isEqualTo("PT1M30S");
        assertThat(edited.at("/payload/n").toString()).isEqualTo("12345678901234567890");
    }

    @Test
    void all_runs_that_match_are_cancelled_after_a_count() {
        for (int i = 0; i < 55; i++) BROWSER.server().enqueue("fine", "{}", ",\"after\":\"2h\",\"queue\":\"many\"");
        Page page = BROWSER.loggedIn();
        BROWSER.show(page, "/runs?q=state%3Awaiting+queue%3Amany");

        page.click("th input[type=checkbox]");
        page.click("button:has-text('Select all that match')");
        waitForText(page, "All 55 that match");
        button(page, "Cancel").click();
        assertThat(page.locator("dialog h2").first().innerText()).contains("55");
        confirm(page);

        page.locator("main :text('55 done')").waitFor();
        assertThat(BROWSER.server()
                        .get("/v1/runs?state=waiting&queue=many")
                        .path("items")
                        .size())
                .isZero();
    }

    @Test
    void selected_rows_are_redriven() {
        String one = BROWSER.server().makeDead("chosen", "one");
        String two = BROWSER.server().makeDead("chosen", "two");
        Page page = BROWSER.loggedIn();
        BROWSER.show(page, "/runs?q=state%3Adead+queue%3Achosen");

        page.check("input[aria-label='Select " + one + "']");
        page.check("input[aria-label='Select " + two + "']");
        button(page, "Redrive").click();
        confirm(page);

        waitForText(page, "2 runs redriven");
        assertThat(BROWSER.server()
                        .get("/v1/runs?state=waiting&queue=chosen")
                        .path("items")
                        .size())
                .isEqualTo(2);
    }

    @Test
    void rows_do_not_move_under_the_pointer() {
        BROWSER.server().enqueue("fine", "{}", ",\"after\":\"1h\",\"queue\":\"still\"");
        Page page = BROWSER.loggedIn();
        BROWSER.show(page, "/runs?q=queue%3Astill");
        page.hover("tbody tr");
        String first = page.locator("tbody tr .main-link").first().getAttribute("href");

        BROWSER.server().enqueue("fine", "{}", ",\"after\":\"1h\",\"queue\":\"still\"");

        page.locator("button:has-text('Show 1 new run')").waitFor();
        assertThat(page.locator("tbody tr .main-link").first().getAttribute("href"))
                .isEqualTo(first);
        page.click("button:has-text('Show 1 new run')");
        page.waitForFunction("() => document.querySelectorAll('tbody tr').length === 2");
        assertThat(page.locator("tbody tr .main-link").first().getAttribute("href"))
                .isNotEqualTo(first);
    }

    @Test
    void a_queue_is_paused_and_resumed() {
        BROWSER.server().call("PUT", "/v1/queues/by-hand/limits", "{\"maxRunning\":3}");
        Page page = BROWSER.loggedIn();
        BROWSER.show(page, "/queues?name=by-hand");

        button(page, "Pause").click();
        confirm(page);
        button(page, "Resume").waitFor();
        assertThat(BROWSER.server().get("/v1/queues/by-hand").has("paused")).isTrue();
        button(page, "Resume").click();
        button(page, "Pause").waitFor();

        assertThat(BROWSER.server().get("/v1/queues/by-hand").has("paused")).isFalse();
    }

    @Test
    void the_keyboard_reaches_pages_rows_and_dialogs() {
        String run = BROWSER.server().makeDead("keys", "by keyboard");
        Page page = BROWSER.loggedIn();
        BROWSER.settle(page);

        page.keyboard().press("g");
        page.keyboard().press("r");
        page.locator("h1:has-text('Runs')").waitFor();
        BROWSER.settle(page);
        page.keyboard().press("/");
        page.keyboard().type("state:dead queue:keys");
        page.keyboard().press("Enter");
        // The list before the search may contain the run too: the tab changes together with the list.
        page.locator("nav[aria-label=States] a[aria-current=page]:has-text('Dead')")
                .waitFor();
        BROWSER.settle(page);
        page.locator("a.main-link[href='#/runs/" + run + "']").waitFor();
        page.locator("h1").first().focus();
        page.keyboard().press("j");
        page.keyboard().press("x");
        page.locator("main :text('1 run selected')").waitFor();
        page.keyboard().press("o");
        page.locator("main code:has-text('" + run + "')").first().waitFor();
        page.keyboard().press("?");
        page.locator("dialog:has-text('Keyboard')").waitFor();
        page.keyboard().press("Escape");
        page.locator("dialog").waitFor(gone());
        page.keyboard().press("Control+k");
        page.waitForFunction("() => document.activeElement.tagName === 'INPUT'");
        page.keyboard().type("timel");
        page.locator("#palette-0:has-text('Timeline')").waitFor();
        page.keyboard().press("Enter");

        page.locator("h1:has-text('Timeline')").waitFor();
    }

    @Test
    void a_reader_sees_disabled_buttons_that_say_why() {
        String key =
                BROWSER.server().createKey("reader", "[\"read\"]").path("key").asString();
        BROWSER.server().schedule("readable");
        Page page = BROWSER.logIn(BROWSER.open(), key);

        BROWSER.show(page, "/schedules/readable");

        assertThat(button(page, "Delete").isDisabled()).isTrue();
        assertThat(button(page, "Delete").getAttribute("title")).contains("manage");
        assertThat(page.locator("nav[aria-label=Pages]").first().innerText()).doesNotContain("Audit", "Nodes");
    }
}
