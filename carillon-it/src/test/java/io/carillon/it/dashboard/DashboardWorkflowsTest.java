package io.carillon.it.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.WaitForSelectorState;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Users see on the page of a workflow what it did and what it waits for. */
class DashboardWorkflowsTest {
    @RegisterExtension
    static final DashboardBrowser BROWSER = new DashboardBrowser();

    private static String checkout(String input) {
        String run = BROWSER.server().enqueue("checkout", input, "");
        BROWSER.server().runDue();
        return run;
    }

    private static Locator step(Page page, String name) {
        return page.locator(".flow-steps li:has(strong:text-is('" + name + "'))");
    }

    @Test
    void the_steps_of_a_workflow_show_their_state_their_results_and_what_it_waits_for() {
        Page page = BROWSER.loggedIn();
        BROWSER.show(page, "/runs/" + checkout("{\"order\":12345678901234567890,\"password\":\"hush\"}"));

        step(page, "charge").locator(":text('Succeeded')").waitFor();
        step(page, "charge").locator("summary").click();
        step(page, "charge").locator("pre:has-text('12345678901234567890')").waitFor();
        assertThat(page.locator("main").innerText()).doesNotContain("hush");
        step(page, "print")
                .locator("button:has-text('Show the result of print (9 KiB)')")
                .click();
        step(page, "print").locator("pre:has-text('xxxxxxxx')").waitFor();
        step(page, "greet").locator(":text('Failed')").waitFor();
        step(page, "greet")
                .locator(".error-text:has-text('<b>no one</b> is there')")
                .waitFor();
        step(page, "cooling-off").locator(":text('Waiting')").waitFor();
        assertThat(step(page, "cooling-off").innerText()).contains("Asleep until", "in 3 d");
    }

    @Test
    void the_steps_change_while_the_workflow_goes_on() {
        String run = checkout("{\"sleep\":1,\"more\":60}");
        Page page = BROWSER.loggedIn();
        BROWSER.show(page, "/runs/" + run);
        step(page, "cooling-off").waitFor();
        assertThat(page.locator(".flow-steps li").count()).isEqualTo(4);

        while (!BROWSER.server().get("/v1/runs/" + run).path("state").asString().equals("succeeded"))
            BROWSER.server().runDue();

        page.locator(".flow-steps li >> nth=49").waitFor();
        page.locator(".card:has(.flow-steps) button:has-text('Load more')").click();
        page.locator(".flow-steps li >> nth=63").waitFor();
        assertThat(step(page, "cooling-off").innerText()).contains("Succeeded", "Slept until");
    }

    @Test
    void a_signal_is_sent_to_a_workflow_that_awaits_it() {
        String run = BROWSER.server().enqueue("approved", "{}", "");
        BROWSER.server().runDue();
        Page page = BROWSER.loggedIn();
        BROWSER.show(page, "/runs/" + run);
        assertThat(step(page, "approval").innerText()).contains("Waiting", "Waits for signal approval until");

        page.locator("main button:has-text('Send signal')").click();
        page.locator("dialog textarea").fill("{by");
        page.locator("dialog :text('This is no JSON')").waitFor();
        assertThat(page.locator("dialog button[type=submit]").isDisabled()).isTrue();
        page.locator("dialog textarea").fill("\"" + "x".repeat(300_000) + "\"");
        page.locator("dialog button[type=submit]").click();
        page.locator("dialog [role=alert]:has-text('at most 262144 bytes')").waitFor();
        BROWSER.expectConsoleErrors("413");
        page.locator("dialog textarea").fill("{\"by\":\"ann\",\"n\":12345678901234567890}");
        page.locator("dialog button[type=submit]").click();
        page.locator(":text('The signal was sent.')").first().waitFor();
        BROWSER.server().runDue();

        page.locator(".flow-steps li:has-text('Signal approval arrived')").waitFor();
        BROWSER.server().call("POST", "/v1/runs/" + run + "/cancel", "{\"reason\":\"sold out\"}");
        BROWSER.server().runDue();
        page.locator(".flow-steps li:has-text('The workflow was cancelled; its steps are undone')")
                .waitFor();
        page.locator(".flow-steps li:has-text('No longer waits for signal approval')")
                .waitFor();
        assertThat(page.locator("main button:has-text('Send signal')").count()).isZero();
        assertThat(BROWSER.server().get("/v1/runs/" + run + "/steps").toString())
                .contains("\"n\":12345678901234567890");
    }

    @Test
    void a_search_finds_workflows_among_other_runs() {
        String run = checkout("{\"order\":8}");
        BROWSER.server().enqueue("fine", "{}", ",\"after\":\"1h\"");
        Page page = BROWSER.loggedIn();
        BROWSER.show(page, "/runs?q=workflow%3Atrue");

        page.locator("main tbody tr:has(a[href*='" + run + "'])").waitFor();
        assertThat(page.locator("main tbody tr").allInnerTexts()).allMatch(row -> row.contains("checkout"));
        BROWSER.show(page, "/runs?q=workflow%3Ayes");
        page.locator("main :text('Write workflow:true, or leave it out.')")
                .first()
                .waitFor();
    }

    @Test
    void a_run_without_steps_has_no_card() {
        String run = BROWSER.server().enqueue("fine", "{}", "");
        BROWSER.server().runDue();
        Page page = BROWSER.loggedIn();
        BROWSER.show(page, "/runs/" + run);

        page.locator("h2:has-text('Attempts')").waitFor();
        page.locator("h2:has-text('Steps')")
                .waitFor(new Locator.WaitForOptions().setState(WaitForSelectorState.DETACHED));
    }
}
