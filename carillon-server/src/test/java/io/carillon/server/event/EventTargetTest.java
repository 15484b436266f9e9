package io.carillon.server.event;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.server.RestTestServer;
import io.carillon.server.RestTestServer.Reply;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Schedules and runs whose target is an event publish it when they are due. */
class EventTargetTest {
    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer();

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
