package io.carillon.it.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Users find topics, events with their deliveries, and subscriptions on the pages of events. */
class DashboardEventsTest {
    @RegisterExtension
    static final DashboardBrowser BROWSER = new DashboardBrowser();

    private static String publish(String topic, String type, String key) {
        return BROWSER.server()
                .call(
                        "POST",
                        "/v1/events",
                        "{\"topic\":\"%s\",\"type\":\"%s\",\"key\":\"%s\",\"data\":{\"id\":12345678901234567890}}"
                                .formatted(topic, type, key))
                .path("event")
                .asString();
    }

    private static void subscribe(String name, String topic) {
        BROWSER.server()
                .call(
                        "POST",
                        "/v1/subscriptions",
                        "{\"name\":\"%s\",\"topic\":\"%s\",\"target\":{\"handler\":\"fine\"}}".formatted(name, topic));
    }

    /** Gives events a position, and delivers them: no node does it in this test. */
    private static void deliver() {
        BROWSER.server().call("POST", "/v1/run-due", "{\"budget\":\"5s\"}");
    }

    private static Locator text(Page page, String text) {
        return page.locator("main :text('" + text + "')").first();
    }

    @Test
    void a_topic_shows_its_events_and_an_event_its_deliveries_and_runs() {
        subscribe("pick", "shop-orders");
        String event = publish("shop-orders", "order.placed", "17");
        publish("shop-orders", "order.paid", "18");
        deliver();
        Page page = BROWSER.loggedIn();
        BROWSER.show(page, "/events");

        page.click("main a:has-text('shop-orders')");
        page.locator("h2:has-text('Newest events of shop-orders')").waitFor();
        text(page, "order.paid").waitFor();
        page.fill("#field-key", "17");
        page.locator("main a:has-text('order.paid')")
                .waitFor(new Locator.WaitForOptions()
                        .setState(com.microsoft.playwright.options.WaitForSelectorState.DETACHED));
        page.click("main a:has-text('order.placed')");

        page.locator("h1:has-text('order.placed')").waitFor();
        assertThat(page.url()).endsWith("#/events/" + event);
        page.locator("pre:has-text('12345678901234567890')").waitFor();
        page.locator("main tr:has-text('pick'):has-text('Succeeded')").waitFor();
        page.click("main a:has-text('pick')");
        page.waitForFunction("() => location.hash.startsWith('#/runs/run_')");
    }

    @Tag("slow")
    @Test
    void a_subscription_is_paused_shows_its_lag_and_is_resumed() {
        subscribe("held-by-hand", "held");
        Page page = BROWSER.loggedIn();
        BROWSER.show(page, "/subscriptions/held-by-hand");

        page.locator("main button:has-text('Pause')").click();
        page.fill("#field-reason", "<b>stocktaking</b>");
        page.click("dialog button[type=submit]");
        text(page, "<b>stocktaking</b>").waitFor();
        publish("held", "a", "1");
        deliver();
        page.locator("main dd:text-is('1')").first().waitFor();
        page.locator("main button:has-text('Resume')").click();

        page.locator("main button:has-text('Pause')").waitFor();
        deliver();
        page.locator("main :text('Up to date')").waitFor();
        assertThat(BROWSER.server().get("/v1/subscriptions/held-by-hand").has("paused"))
                .isFalse();
    }

    @Test
    void the_palette_finds_topics_subscriptions_and_events() {
        subscribe("found-by-name", "sought");
        String event = publish("sought", "a", "1");
        Page page = BROWSER.loggedIn();
        BROWSER.show(page, "/");

        page.keyboard().press("Control+k");
        page.fill("dialog input", "found-by");
        page.locator("dialog li:has-text('found-by-name')").waitFor();
        page.fill("dialog input", "sough");
        page.locator("dialog li:has-text('sought'):has-text('topic')").waitFor();
        page.fill("dialog input", event);
        page.locator("dialog li:has-text('" + event + "'):has-text('event')").waitFor();
        page.keyboard().press("Enter");

        page.locator("h1:has-text('a')").waitFor();
        assertThat(page.url()).endsWith("#/events/" + event);
    }

    @Test
    void relays_and_sources_show_whether_they_work_and_what_is_wrong() {
        BROWSER.server()
                .execute("INSERT INTO carillon.event_relay (project, name, topic, destination, cursor_snapshot,"
                        + " cursor_seq, owner, leased_until, error, failing_since) VALUES"
                        + " ('default', 'failing', 'shop', 'kafka:shop', 0, 9223372036854775807,"
                        + " '018f0000-0000-7000-8000-000000000001', carillon.clock() + interval '1 hour',"
                        + " '<b>no broker</b>', carillon.clock()),"
                        + " ('default', 'alone', 'shop', 'kafka:alone', 0, 9223372036854775807, NULL, NULL,"
                        + " NULL, NULL)");
        BROWSER.server()
                .execute("INSERT INTO carillon.event_source (project, name, part, next_position, blocked_at, reason)"
                        + " VALUES ('default', 'bank', 'bank-0', 7, carillon.clock(), 'cannot read <i>it</i>')");
        Page page = BROWSER.loggedIn();

        BROWSER.show(page, "/events");

        page.locator("main tr:has-text('failing'):has-text('Failing'):has-text('<b>no broker</b>')")
                .waitFor();
        page.locator("main tr:has-text('alone'):has-text('No node'):has-text('Start a node that declares it')")
                .waitFor();
        page.locator("main tr:has-text('bank-0'):has-text('Blocked'):has-text('cannot read <i>it</i>')")
                .waitFor();
        BROWSER.server()
                .execute("DELETE FROM carillon.event_relay WHERE name IN ('failing', 'alone');"
                        + " DELETE FROM carillon.event_source WHERE name = 'bank'");
    }

    @Test
    void a_page_without_events_says_how_to_publish_and_subscribe() {
        String key = BROWSER.server()
                .call("POST", "/v1/projects", "{\"name\":\"empty-of-events\"}")
                .path("key")
                .asString();
        Page page = BROWSER.open(new com.microsoft.playwright.Browser.NewContextOptions());
        BROWSER.logIn(page, key);
        BROWSER.show(page, "/events");

        assertThat(page.locator(".empty").innerText())
                .contains("No events yet", "carillon event publish", "carillon subscription create");
    }

    @Test
    void a_schedule_that_publishes_an_event_is_created_with_the_form() {
        Page page = BROWSER.loggedIn();
        BROWSER.show(page, "/schedules/new");

        page.fill("#field-name", "closes-books");
        page.selectOption("#field-target", "event");
        page.fill("#field-topic", "books");
        page.fill("#field-type", "books.closed");
        page.fill("#field-eventKey", "eu");
        page.locator("form button[type=submit]").click();

        page.locator("h1:has-text('closes-books')").waitFor();
        text(page, "books/books.closed").waitFor();
        assertThat(BROWSER.server()
                        .get("/v1/schedules/closes-books")
                        .at("/target/event/key")
                        .asString())
                .isEqualTo("eu");
    }
}
