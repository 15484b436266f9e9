package io.carillon.it.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Page;
import io.carillon.Carillon;
import io.carillon.dashboard.CarillonDashboard;
import io.carillon.dashboard.DashboardAccess;
import io.carillon.run.Enqueue;
import io.carillon.run.HandlerType;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.schedule.When;
import io.carillon.testkit.TestDatabase;
import jakarta.servlet.http.HttpServlet;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.eclipse.jetty.ee11.servlet.ServletContextHandler;
import org.eclipse.jetty.ee11.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The dashboard that an application shows at a path of its own: without a login, and without pages of a server. */
class ApplicationDashboardTest {
    @RegisterExtension
    static final DashboardBrowser BROWSER = new DashboardBrowser();

    private static final HandlerType<String> SEND = HandlerType.of("send", String.class);
    private static final AtomicReference<DashboardAccess> ACCESS = new AtomicReference<>(DashboardAccess.none());

    private static TestDatabase database;
    private static Carillon carillon;
    private static Server server;
    private static String url;

    @BeforeAll
    static void startTheApplication() throws Exception {
        database = TestDatabase.migrated();
        carillon = Carillon.on(database.pool(8)).handle(SEND, (text, run) -> {}).build();
        HttpServlet dashboard = CarillonDashboard.on(carillon, database.pool(4))
                .authorizer(request -> ACCESS.get())
                .servlet();
        server = new Server();
        ServerConnector connector = new ServerConnector(server);
        connector.setHost("127.0.0.1");
        server.addConnector(connector);
        ServletContextHandler context = new ServletContextHandler("/shop");
        context.addServlet(new ServletHolder(dashboard), "/jobs/*");
        server.setHandler(context);
        server.start();
        url = "http://127.0.0.1:" + connector.getLocalPort() + "/shop/jobs";
    }

    @AfterAll
    static void stop() throws Exception {
        server.stop();
        carillon.close();
        database.close();
    }

    @BeforeEach
    void letAnnChangeEverything() {
        ACCESS.set(DashboardAccess.operator("ann"));
    }

    private static Page openHome() {
        Page page = BROWSER.openAt(url);
        page.locator("nav[aria-label=Pages]").first().waitFor(DashboardBrowser.attached());
        BROWSER.settle(page);
        return page;
    }

    @Test
    void every_page_of_an_application_opens_and_changes_by_itself() {
        carillon.schedules().upsert("nightly", When.cron("0 2 * * *", "Europe/Paris"), SEND, "hello");
        RunId run = carillon.enqueue(SEND, "hello", Enqueue.after(Duration.ofHours(1)))
                .run();
        Page page = openHome();

        assertThat(page.url()).startsWith(url + "/ui");
        assertThat(page.locator("nav[aria-label=Pages]").first().innerText())
                .contains("Schedules", "Nodes", "Audit")
                .doesNotContain("Endpoints");
        for (String view : List.of(
                "/schedules",
                "/schedules/nightly",
                "/schedules/nightly/edit",
                "/schedules/new",
                "/timeline",
                "/runs",
                "/runs/" + run,
                "/queues",
                "/dead",
                "/nodes",
                "/bulk",
                "/audit",
                "/settings/display")) {
            BROWSER.show(page, view);
            assertThat(page.locator(".notice[role=alert]").allInnerTexts())
                    .as(view)
                    .isEmpty();
        }
        page.locator("[data-live=live]").waitFor(DashboardBrowser.attached());
        assertThat(page.locator("button[aria-label='Log out']").count()).isZero();
    }

    @Tag("slow")
    @Test
    void an_operator_cancels_a_run_and_a_viewer_sees_why_not() {
        RunId run = carillon.enqueue(SEND, "hello", Enqueue.after(Duration.ofHours(1)))
                .run();
        Page page = openHome();
        BROWSER.show(page, "/runs/" + run);

        page.locator("main button:has-text('Cancel')").first().click();
        page.click("dialog button[type=submit]");
        page.locator(".toasts :text('Cancelled')").first().waitFor();

        assertThat(carillon.runs().get(run).orElseThrow().state()).isEqualTo(RunState.CANCELLED);
        BROWSER.show(page, "/audit");
        page.locator("td:has-text('user ann')").first().waitFor();
        ACCESS.set(DashboardAccess.viewer("bob"));
        RunId other = carillon.enqueue(SEND, "hello", Enqueue.after(Duration.ofHours(1)))
                .run();
        page = openHome();
        BROWSER.show(page, "/runs/" + other);
        assertThat(page.locator("main button:has-text('Cancel')").first().getAttribute("title"))
                .contains("not change anything");
    }

    @Test
    void a_user_whom_the_application_does_not_know_is_told_to_log_in_there() {
        ACCESS.set(DashboardAccess.none());
        Page page = BROWSER.openAt(url);

        page.locator("h2:has-text('You are not logged in')").waitFor();
        assertThat(page.locator("#key").count()).isZero();
        ACCESS.set(DashboardAccess.viewer("bob"));
        page.click("button:has-text('Reload')");

        page.locator("nav[aria-label=Pages]").first().waitFor(DashboardBrowser.attached());
        BROWSER.expectConsoleErrors("401");
    }
}
