package io.carillon.server.event;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.event.Topic;
import io.carillon.schedule.When;
import io.carillon.server.RestTestServer;
import io.carillon.server.RestTestServer.Reply;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Schedules and runs whose target is an event publish it when they are due. */
class EventTargetTest {
    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer(
            builder -> builder.schedule(
                    "counted",
                    When.cron("0 2 * * *", "UTC"),
                    Topic.named("stock")
                            .withVersions()
                            .event("counted", Counted.class)
                            .of(new Counted(1, "hidden"))
                            .key("bolt")),
            server -> server);

    /** The data of an event of the application. */
    record Counted(int pieces, String token) {}

    private static final String TARGET =
            "\"target\":{\"event\":{\"topic\":\"books\",\"type\":\"closed\",\"key\":\"eu\"}}";

    @Test
    void a_schedule_publishes_its_event_and_shows_it() {
        String key = SERVER.createProject("closing");
        String body =
                "{\"when\":{\"cron\":\"0 2 * * *\"}," + TARGET + ",\"payload\":{\"amount\":1.10},\"queue\":\"q\"}";
        Reply made = SERVER.put(key, "/v1/schedules/close", body).requireStatus(201);
        assertThat(made.at("/target/event/topic")).isEqualTo("books");
        assertThat(made.at("/target/event/key")).isEqualTo("eu");
        assertThat(made.text()).contains("\"payload\":{\"amount\":1.10}");
        assertThat(SERVER.get(key, "/v1/schedules").at("/items/0/target/event/type"))
                .isEqualTo("closed");
        String run = SERVER.post(key, "/v1/schedules/close/trigger", null)
                .requireStatus(201)
                .at("/run");
        Reply waiting = SERVER.get(key, "/v1/runs/" + run).requireStatus(200);
        assertThat(waiting.at("/target/event/type")).isEqualTo("closed");
        assertThat(waiting.text()).contains("\"payload\":{\"amount\":1.10}");

        SERVER.runDue();

        assertThat(SERVER.get(key, "/v1/runs/" + run).at("/state")).isEqualTo("succeeded");
        SERVER.runDue();
        Reply events = SERVER.get(key, "/v1/events?topic=books").requireStatus(200);
        assertThat(events.json().path("items")).hasSize(1);
        assertThat(events.at("/items/0/key")).isEqualTo("eu");
        assertThat(events.text()).contains("\"data\":{\"amount\":1.10}");
    }

    @Test
    void what_list_prints_can_be_sent_back() {
        String key = SERVER.createProject("back");
        String target =
                "\"target\":{\"event\":{\"topic\":\"t\",\"type\":\"b\",\"key\":\"k\",\"headers\":{\"tenant\":\"a\"}}}";
        Reply made = SERVER.put(key, "/v1/schedules/s", "{\"when\":{\"cron\":\"0 2 * * *\"}," + target + "}")
                .requireStatus(201);
        Reply again = SERVER.put(
                        key,
                        "/v1/schedules/s",
                        "{\"when\":{\"cron\":\"0 2 * * *\"},\"target\":"
                                + made.json().path("target") + "}")
                .requireStatus(200);
        assertThat(again.at("/version")).isEqualTo(made.at("/version"));
    }

    @Test
    void a_run_publishes_its_event_later_and_can_be_enqueued_in_a_batch() {
        String key = SERVER.createProject("later");
        SERVER.post(key, "/v1/runs", "{" + TARGET + ",\"payload\":1,\"after\":\"1h\"}")
                .requireStatus(201);
        SERVER.post(key, "/v1/runs:batch", "{" + TARGET + ",\"runs\":[{\"payload\":2},{\"payload\":3}]}")
                .requireStatus(201);

        SERVER.runDue();
        SERVER.runDue();

        assertThat(SERVER.get(key, "/v1/events?topic=books").json().path("items"))
                .hasSize(2);
    }

    @Test
    void an_event_with_a_version_is_shown_as_an_event_without_its_secrets() {
        String run = SERVER.post(SERVER.bootstrap(), "/v1/schedules/counted/trigger", null)
                .requireStatus(201)
                .at("/run");

        Reply shown = SERVER.get(SERVER.bootstrap(), "/v1/runs/" + run).requireStatus(200);

        assertThat(shown.at("/target/event/topic") + "/" + shown.at("/target/event/key"))
                .isEqualTo("stock/bolt");
        assertThat(shown.at("/payload/token")).isEqualTo("[redacted]");
        SERVER.runDue();
        assertThat(SERVER.get(SERVER.bootstrap(), "/v1/runs/" + run).at("/state"))
                .isEqualTo("succeeded");
        SERVER.runDue();
        assertThat(SERVER.get(SERVER.bootstrap(), "/v1/events?topic=stock").at("/items/0/version"))
                .isEqualTo("1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"carillon.publish", "carillon.publish-versioned", "carillon.other", "webhook"})
    void handlers_of_carillon_itself_cannot_be_named(String handler) {
        String key = SERVER.post(
                        SERVER.bootstrap(),
                        "/v1/keys",
                        "{\"name\":\"r\",\"scopes\":[\"manage\"],\"queues\":[\"orders\"]}")
                .requireStatus(201)
                .at("/key");
        String run = "\"target\":{\"handler\":\"%s\"},\"queue\":\"orders\",\"payload\":{\"topic\":\"payments\"}"
                .formatted(handler);
        String when = "\"when\":{\"cron\":\"0 2 * * *\"},";

        for (Reply refused : new Reply[] {
            SERVER.post(key, "/v1/runs", "{" + run + "}"), SERVER.put(key, "/v1/schedules/s", "{" + when + run + "}")
        }) assertThat(refused.requireStatus(422).at("/errors/0/pointer")).isEqualTo("/target/handler");
        assertThat(SERVER.post(key, "/v1/schedules:batch", "{\"schedules\":[{\"name\":\"s\"," + when + run + "}]}")
                        .requireStatus(200)
                        .at("/items/0/error/status"))
                .isEqualTo("422");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{\"handler\":\"carillon.publish\"}|/target/handler",
                "{\"event\":{\"topic\":\"a\"}}|/target/event/type",
                "{\"event\":{\"topic\":\"A\",\"type\":\"b\"}}|/target/event/topic",
                "{\"event\":{\"topic\":\"a\",\"type\":\"b\",\"versions\":true}}|/target/event/versions",
                "{\"event\":{\"topic\":\"a\",\"type\":\"b\"},\"handler\":\"h\"}|/target/event",
                "{\"event\":{\"topic\":\"a\",\"type\":\"b\",\"data\":1}}|/target/event/data"
            })
    void refuses_what_is_not_an_event(String target, String pointer) {
        assertThat(SERVER.post(SERVER.bootstrap(), "/v1/runs", "{\"target\":" + target + "}")
                        .requireStatus(422)
                        .at("/errors/0/pointer"))
                .isEqualTo(pointer);
    }
}
