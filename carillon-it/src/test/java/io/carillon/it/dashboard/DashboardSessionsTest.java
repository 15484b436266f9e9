package io.carillon.it.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Page;
import com.microsoft.playwright.Route;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

/** Logins, revoked keys, several tabs, and a server that restarts under an open page. */
class DashboardSessionsTest {
    @RegisterExtension
    static final DashboardBrowser BROWSER = new DashboardBrowser();

    @Test
    void a_wrong_key_is_refused_with_a_reason_and_a_right_one_opens_the_page_that_was_asked_for() {
        Page page = BROWSER.open();
        page.navigate(BROWSER.url() + "#/queues");
        page.fill("#key", "crl_wrong");
        page.click("button[type=submit]");
        page.locator("text=The server does not know this key").waitFor();
        BROWSER.expectConsoleErrors("401");

        BROWSER.logIn(page, BROWSER.server().key());

        page.locator("h1:has-text('Queues')").waitFor();
        assertThat((String) page.evaluate("() => document.cookie + JSON.stringify(localStorage)"))
                .as("what scripts can read")
                .doesNotContain(BROWSER.server().key());
    }

    @Test
    void a_login_link_works_once() {
        String link = BROWSER.server().loginLink();
        Page page = BROWSER.open();
        page.navigate(link);
        page.locator("h1:has-text('Home'), h1:has-text('Welcome')").first().waitFor();
        assertThat(page.url()).doesNotContain("login");

        Page other = BROWSER.open();
        other.navigate(link);
        other.locator("text=The login link was used before").waitFor();
        BROWSER.expectConsoleErrors("401");
    }

    @Test
    void logging_out_removes_the_session() {
        Page page = BROWSER.loggedIn();

        page.click("button[aria-label='Log out']");
        page.locator("text=You have logged out").waitFor();
        page.reload();

        page.locator("#key").waitFor();
        // A request that the page had sent before may be answered after the logout.
        BROWSER.expectConsoleErrors("401");
    }

    @Test
    void a_revoked_key_ends_its_session_and_another_one_continues_on_the_same_page() {
        JsonNode made = BROWSER.server().createKey("short", "[\"admin\"]");
        Page page = BROWSER.logIn(BROWSER.open(), made.path("key").asString());
        BROWSER.show(page, "/queues");

        BROWSER.server().call("DELETE", "/v1/keys/" + made.path("id").asString(), null);

        page.locator("text=Your session has ended").waitFor();
        BROWSER.expectConsoleErrors("401");
        BROWSER.logIn(page, BROWSER.server().key());
        page.locator("h1:has-text('Queues')").waitFor();
    }

    @Tag("slow")
    @Test
    void two_tabs_share_one_event_stream() {
        List<String> streams = new CopyOnWriteArrayList<>();
        Page first = BROWSER.open();
        first.context().onRequest(request -> {
            if (request.url().endsWith("/v1/stream")) streams.add(request.url());
        });
        BROWSER.logIn(first, BROWSER.server().key());
        Page second = BROWSER.newTab(first.context());
        second.navigate(BROWSER.url() + "#/schedules?name=in.two");
        first.locator("[data-live=live]").waitFor(DashboardBrowser.attached());
        second.locator("[data-live=live]").waitFor(DashboardBrowser.attached());

        BROWSER.server().schedule("in.two.tabs");
        second.locator("a:has-text('in.two.tabs')").waitFor();
        assertThat(streams).hasSize(1);

        first.close();
        BROWSER.server().schedule("in.two.tabs-later");
        second.locator("a:has-text('in.two.tabs-later')").waitFor();
        second.waitForCondition(() -> streams.size() == 2);
    }

    @Test
    void eight_tabs_share_one_event_stream_and_stay_live() {
        List<String> streams = new CopyOnWriteArrayList<>();
        Page first = BROWSER.open();
        first.context().onRequest(request -> {
            if (request.url().endsWith("/v1/stream")) streams.add(request.url());
        });
        BROWSER.logIn(first, BROWSER.server().key());
        List<Page> tabs = new ArrayList<>(List.of(first));
        for (int i = 1; i < 8; i++) {
            Page tab = BROWSER.newTab(first.context());
            tab.navigate(BROWSER.url() + "#/schedules?name=in.eight");
            tabs.add(tab);
        }
        for (Page tab : tabs) tab.locator("[data-live=live]").waitFor(DashboardBrowser.attached());

        BROWSER.server().schedule("in.eight.tabs");

        for (Page tab : tabs.subList(1, 8))
            tab.locator("a:has-text('in.eight.tabs')").waitFor();
        assertThat(streams).hasSize(1);
    }

    @Test
    void a_paused_page_does_not_change_until_it_is_resumed() {
        Page page = BROWSER.loggedIn();
        BROWSER.show(page, "/schedules?name=while.paused");
        page.locator("[data-live=live]").waitFor(DashboardBrowser.attached());
        page.keyboard().press("p");
        page.locator("[data-live=paused]").waitFor();

        BROWSER.server().schedule("while.paused");
        Page other = BROWSER.newTab(page.context());
        other.navigate(BROWSER.url() + "#/schedules?name=while.paused");
        other.locator("a:has-text('while.paused')").waitFor();
        assertThat(page.locator("a:has-text('while.paused')").count()).isZero();
        page.bringToFront();
        page.click("[data-live=paused]");

        page.locator("a:has-text('while.paused')").waitFor();
    }

    @Test
    void an_answer_that_comes_after_the_pause_changes_nothing() {
        Page page = BROWSER.loggedIn();
        BROWSER.show(page, "/schedules?name=before.the.pause");
        page.locator("[data-live=live]").waitFor(DashboardBrowser.attached());
        List<Route> held = new CopyOnWriteArrayList<>();
        page.route("**/v1/schedules?*", held::add);
        BROWSER.server().schedule("before.the.pause");
        page.waitForCondition(() -> !held.isEmpty());

        page.keyboard().press("p");
        page.locator("[data-live=paused]").waitFor();
        page.unroute("**/v1/schedules?*");
        page.waitForResponse("**/v1/schedules?*", () -> held.forEach(Route::resume));
        page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))");

        assertThat(page.locator("a:has-text('before.the.pause')").count()).isZero();
        page.click("[data-live=paused]");
        page.locator("a:has-text('before.the.pause')").waitFor();
    }

    @Test
    void a_page_survives_a_restart_of_the_server() {
        Page page = BROWSER.loggedIn();
        BROWSER.show(page, "/schedules?name=after.the");
        page.locator("[data-live=live]").waitFor(DashboardBrowser.attached());

        BROWSER.server().stop();
        try {
            page.locator("[data-live=connecting], [data-live=unreachable]")
                    .first()
                    .waitFor();
        } finally {
            BROWSER.server().resume();
        }
        BROWSER.server().schedule("after.the.restart");

        page.locator("a:has-text('after.the.restart')").waitFor();
        page.locator("[data-live=live]").waitFor(DashboardBrowser.attached());
        BROWSER.expectConsoleErrors("ERR_");
        BROWSER.expectConsoleErrors("50");
    }
}
