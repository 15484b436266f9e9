package io.carillon.it.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Page;
import io.carillon.server.CarillonServer;
import io.carillon.server.login.OidcSettings;
import java.net.InetAddress;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import no.nav.security.mock.oauth2.MockOAuth2Server;
import no.nav.security.mock.oauth2.token.DefaultOAuth2TokenCallback;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

/** Users log in with a real identity provider, see what their roles allow, and manage members and sessions. */
class DashboardUsersTest {
    private static final String CLIENT = "carillon-dashboard";
    private static final String NAME = "company";

    @RegisterExtension
    static final DashboardBrowser BROWSER = new DashboardBrowser();

    private static final MockOAuth2Server PROVIDER = new MockOAuth2Server();

    private static CarillonServer server;

    @BeforeAll
    static void start() {
        PROVIDER.start(InetAddress.getLoopbackAddress(), 0);
        server = BROWSER.server()
                .start(builder ->
                        builder.provider(new OidcSettings(issuer(), CLIENT, Optional.of("secret"), Optional.empty())));
    }

    @AfterAll
    static void stop() {
        server.close();
        PROVIDER.shutdown();
    }

    private static String issuer() {
        return PROVIDER.issuerUrl(NAME).toString();
    }

    private static String url(CarillonServer of) {
        return "http://127.0.0.1:" + of.port() + "/ui";
    }

    private static Page openLogin() {
        return BROWSER.openAt(
                url(server),
                "http://127.0.0.1:" + server.port() + "/",
                PROVIDER.baseUrl().toString());
    }

    /** Logs in a user, whom the provider knows already and sends back at once. */
    private static void logIn(Page page, String subject, String name) {
        PROVIDER.enqueueCallback(new DefaultOAuth2TokenCallback(
                NAME, subject, "JWT", List.of(CLIENT), Map.of("name", name, "email", subject + "@example.com"), 3600));
        page.click("a:has-text('Log in with')");
    }

    private static String addMember(String subject, String role) {
        return BROWSER.server()
                .call("POST", "/v1/members", "{\"user\":\"%s\",\"role\":\"%s\"}".formatted(subject, role))
                .path("id")
                .asString();
    }

    private static Page memberPage(String subject, String name, String role) {
        Page page = openLogin();
        logIn(page, subject, name);
        String id = page.locator("main code").first().textContent();
        addMember(id, role);
        page.click("button:has-text('Try again')");
        page.locator("nav[aria-label=Pages]").first().waitFor(DashboardBrowser.attached());
        return page;
    }

    private static int status(Page page, String method, String path) {
        return (Integer) page.evaluate(
                "async ([method, path]) => (await fetch(path, {method, headers: {'X-Carillon-CSRF': '1',"
                        + " 'Content-Type': 'application/json'}, body: method === 'GET' ? undefined : '{}'})).status",
                List.of(method, path));
    }

    @Test
    void a_viewer_logs_in_sees_no_actions_and_is_out_when_removed() {
        BROWSER.server().schedule("watched");
        Page page = openLogin();
        page.navigate(url(server) + "#/schedules");
        logIn(page, "vera", "Vera Viewer");
        page.locator("h1:has-text('not a member of any project')").waitFor();
        String id = page.locator("main code").first().textContent();
        assertThat(id).startsWith("usr_");
        addMember(id, "viewer");
        page.click("button:has-text('Try again')");

        page.locator(".who:has-text('Vera Viewer')").waitFor(DashboardBrowser.attached());
        BROWSER.show(page, "/schedules/watched");
        page.locator("h1:has-text('watched')").waitFor();
        assertThat(page.locator("button:has-text('Pause')")
                        .filter(notTheSwitch())
                        .count())
                .isZero();
        for (String action : List.of("Run now", "Backfill", "Edit", "Delete"))
            assertThat(page.locator("main button:has-text('%s')".formatted(action))
                            .count())
                    .as(action)
                    .isZero();
        BROWSER.show(page, "/schedules");
        assertThat(page.locator("a:has-text('New schedule')").count()).isZero();
        assertThat(page.locator("a:has-text('Audit')").count()).isZero();
        assertThat(status(page, "POST", "v1/schedules/watched/trigger")).isEqualTo(403);
        assertThat(status(page, "GET", "v1/members")).isEqualTo(403);
        BROWSER.expectConsoleErrors("403");
        assertThat((String) page.evaluate("() => document.cookie")).isEmpty();

        BROWSER.server().call("DELETE", "/v1/members/" + id, null);

        page.locator("h1:has-text('not a member')").waitFor();
        BROWSER.expectConsoleErrors("403");
    }

    private static com.microsoft.playwright.Locator.FilterOptions notTheSwitch() {
        return new com.microsoft.playwright.Locator.FilterOptions().setHasNotText("Live");
    }

    @Tag("slow")
    @Test
    void an_admin_adds_changes_and_removes_members() {
        Page page = memberPage("adam", "Adam Admin", "admin");
        BROWSER.show(page, "/settings/members");
        page.click("button:has-text('Add member')");
        page.fill("dialog #field-user", "olga");
        page.selectOption("dialog #field-role", "operator");
        page.click("dialog button[type=submit]");
        page.locator("tr:has-text('olga'):has-text('operator')").waitFor();

        page.click("tr:has-text('olga') button:has-text('Role')");
        page.selectOption("dialog #field-role", "viewer");
        page.click("dialog button[type=submit]");
        page.locator("tr:has-text('olga'):has-text('viewer')").waitFor();

        page.click("tr:has-text('olga') button:has-text('Remove')");
        page.click("dialog button[type=submit]");
        page.locator("tr:has-text('olga')")
                .waitFor(new com.microsoft.playwright.Locator.WaitForOptions()
                        .setState(com.microsoft.playwright.options.WaitForSelectorState.DETACHED));
        BROWSER.show(page, "/audit");
        page.locator("tr:has-text('member.remove'):has-text('Adam Admin')")
                .first()
                .waitFor();
    }

    @Tag("slow")
    @Test
    void a_user_ends_another_own_session_and_logs_out() {
        Page page = memberPage("sam", "Sam Sessions", "operator");
        Page other = openLogin();
        logIn(other, "sam", "Sam Sessions");
        other.locator("nav[aria-label=Pages]").first().waitFor(DashboardBrowser.attached());

        BROWSER.show(page, "/settings/sessions");
        page.locator("tr:has-text('This browser')").waitFor();
        page.locator("main tr button")
                .filter(new com.microsoft.playwright.Locator.FilterOptions().setHasText("End"))
                .first()
                .click();
        page.click("dialog button[type=submit]");
        other.locator("text=Your session has ended").waitFor();
        BROWSER.expectConsoleErrors("401");

        page.click("button[aria-label='Log out']");
        page.locator("text=You have logged out").waitFor();
        page.reload();
        page.locator("a:has-text('Log in with')").waitFor();
        BROWSER.expectConsoleErrors("401");
    }

    @Tag("slow")
    @Test
    void each_tab_keeps_its_project() {
        Page page = memberPage("paula", "Paula Projects", "operator");
        String id = (String) page.evaluate("async () => (await (await fetch('v1/session')).json()).user.id");
        JsonNode made =
                BROWSER.server().call("POST", "/v1/projects", "{\"name\":\"second\",\"owner\":\"%s\"}".formatted(id));
        assertThat(made.path("owner").asString()).isEqualTo(id);
        page.reload();
        page.locator("select[aria-label=Project]").waitFor();
        Page tab = BROWSER.newTab(page.context());
        tab.navigate(url(server));
        tab.locator("select[aria-label=Project]").waitFor();

        tab.selectOption("select[aria-label=Project]", "second");
        tab.locator(".who strong:has-text('second')").waitFor(DashboardBrowser.attached());

        page.reload();
        page.locator(".who strong:has-text('default')").waitFor(DashboardBrowser.attached());
        tab.reload();
        tab.locator(".who strong:has-text('second')").waitFor(DashboardBrowser.attached());
    }

    @Test
    void a_login_that_fails_says_why_and_keeps_the_key_login() {
        Page page = openLogin();
        page.navigate(url(server).replace("/ui", "/ui/callback?error=access_denied&state=forged"));
        page.locator("text=This login did not begin in this browser").waitFor();
        BROWSER.expectConsoleErrors("401");

        BROWSER.logIn(page, BROWSER.server().key());
    }

    @Test
    void a_read_only_server_says_so_and_disables_actions() {
        BROWSER.server().schedule("frozen");
        try (CarillonServer readOnly = BROWSER.server().start(builder -> builder.readOnly(true))) {
            Page page = BROWSER.openAt(url(readOnly), "http://127.0.0.1:" + readOnly.port() + "/");
            BROWSER.logIn(page, BROWSER.server().key());
            page.locator("text=This server is read-only").waitFor();
            BROWSER.show(page, "/schedules/frozen");
            assertThat(page.locator("main button:has-text('Run now')").isDisabled())
                    .isTrue();
            assertThat(page.locator("a:has-text('New schedule')").count()).isZero();
            page.close();
        }
    }
}
