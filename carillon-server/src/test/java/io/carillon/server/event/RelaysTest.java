package io.carillon.server.event;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.event.EventId;
import io.carillon.server.RestTestServer;
import io.carillon.server.RestTestServer.Reply;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Relays and sources over REST: what they have sent and read, and decisions about rejected events. */
class RelaysTest {
    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer();

    /** Creates a relay that has sent nothing. */
    private static void relay(String project, String node, String error) {
        SERVER.query("""
                INSERT INTO carillon.event_relay (project, name, topic, destination, cursor_snapshot, cursor_seq, owner,
                  leased_until, error, failing_since)
                VALUES (?, 'r', 'orders', 'kafka:orders', 0, 9223372036854775807, ?::uuid,
                  carillon.clock() + interval '1 hour', ?::text,
                  CASE WHEN ?::text IS NOT NULL THEN carillon.clock() END)
                RETURNING 1
                """, project, node, error, error);
    }

    private static void reject(String project, String event, boolean blocks) {
        SERVER.query(
                """
                INSERT INTO carillon.event_relay_held (project, relay, snapshot, seq, event, day, key, state, blocks,
                  reason)
                SELECT e.project, 'r', 1, e.seq, e.id, e.day, e.key, 'rejected', ?::bool, 'too large'
                  FROM carillon.event_store e WHERE e.project = ? AND e.id = ?::uuid RETURNING 1
                """,
                Boolean.toString(blocks),
                project,
                EventId.parse(event).value().toString());
    }

    private static String publish(String key, String name) {
        return SERVER.post(key, "/v1/events", "{\"topic\":\"orders\",\"type\":\"a.b\",\"key\":\"%s\"}".formatted(name))
                .requireStatus(201)
                .at("/event");
    }

    @Test
    void a_relay_shows_its_state_its_lag_and_what_it_has_not_sent() {
        String key = SERVER.createProject("sending");
        relay("sending", "018f0000-0000-7000-8000-000000000001", null);
        publish(key, "k1");
        publish(key, "k2");
        SERVER.runDue();

        Reply shown = SERVER.get(key, "/v1/relays/r").requireStatus(200);

        assertThat(shown.at("/state")).isEqualTo("sending");
        assertThat(shown.at("/node")).startsWith("nod_");
        assertThat(shown.at("/destination")).isEqualTo("kafka:orders");
        assertThat(shown.at("/lag/count")).isEqualTo("2");
        assertThat(shown.at("/lag/more")).isEqualTo("false");
        assertThat(shown.json().path("rejectedEvents")).isEmpty();
        Reply unsent = SERVER.get(key, "/v1/events?topic=orders&after=" + shown.at("/position"))
                .requireStatus(200);
        assertThat(unsent.json().path("items")).hasSize(2);
        Reply listed = SERVER.get(key, "/v1/relays").requireStatus(200);
        assertThat(listed.json().path("items")).hasSize(1);
        assertThat(listed.at("/items/0/name")).isEqualTo("r");
    }

    @Test
    void relays_have_pages() {
        String key = SERVER.createProject("many");
        SERVER.query("""
                WITH added AS (
                  INSERT INTO carillon.event_relay (project, name, topic, destination, cursor_snapshot, cursor_seq)
                  SELECT 'many', 'r' || i, 'orders', 'kafka:orders', 0, 0 FROM generate_series(1, 3) i RETURNING 1)
                SELECT count(*) FROM added
                """);

        Reply first = SERVER.get(key, "/v1/relays?limit=2").requireStatus(200);

        assertThat(first.json().path("items")).hasSize(2);
        Reply second = SERVER.get(key, "/v1/relays?limit=2&cursor=" + first.at("/next"))
                .requireStatus(200);
        assertThat(second.json().path("items")).hasSize(1);
        assertThat(second.at("/items/0/name")).isEqualTo("r3");
        assertThat(second.json().has("next")).isFalse();
    }

    @Test
    void a_relay_without_a_node_or_whose_destination_fails_says_so() {
        String failing = SERVER.createProject("failing");
        relay("failing", "018f0000-0000-7000-8000-000000000001", "no broker");
        String alone = SERVER.createProject("alone");
        relay("alone", null, null);

        Reply shown = SERVER.get(failing, "/v1/relays/r").requireStatus(200);

        assertThat(shown.at("/state")).isEqualTo("failing");
        assertThat(shown.at("/error")).isEqualTo("no broker");
        assertThat(shown.json().has("failingSince")).isTrue();
        assertThat(SERVER.get(alone, "/v1/relays").at("/items/0/state")).isEqualTo("without-node");
        assertThat(SERVER.get(alone, "/v1/relays/r").json().has("node")).isFalse();
    }

    @Test
    void rejected_events_are_shown_sent_again_or_skipped_once() {
        String key = SERVER.createProject("deciding");
        relay("deciding", null, null);
        String first = publish(key, "k1");
        String second = publish(key, "k2");
        reject("deciding", first, true);
        reject("deciding", second, false);
        String body = "{\"event\":\"%s\"}";

        Reply shown = SERVER.get(key, "/v1/relays/r").requireStatus(200);
        assertThat(shown.at("/rejected")).isEqualTo("2");
        assertThat(shown.at("/rejectedEvents/0/event")).isEqualTo(first);
        assertThat(shown.at("/rejectedEvents/0/blocksKey")).isEqualTo("true");
        assertThat(shown.at("/rejectedEvents/1/reason")).isEqualTo("too large");
        SERVER.post(key, "/v1/relays/r/retry", body.formatted(first)).requireStatus(200);
        SERVER.post(key, "/v1/relays/r/skip", body.formatted(second)).requireStatus(200);

        assertThat(SERVER.query("SELECT string_agg(state, ' ' ORDER BY seq) FROM carillon.event_relay_held"
                                + " WHERE project = 'deciding'")
                        .text())
                .isEqualTo("retry skip");
        assertThat(SERVER.post(key, "/v1/relays/r/skip", body.formatted(second))
                        .requireStatus(409)
                        .code())
                .isEqualTo("event-not-rejected");
        assertThat(SERVER.post(key, "/v1/relays/r/skip", body.formatted("x")).status())
                .isEqualTo(422);
        assertThat(SERVER.get(key, "/v1/audit?object=relay/r").json().path("items"))
                .hasSize(2);
        SERVER.delete(key, "/v1/relays/r").requireStatus(204);
        assertThat(SERVER.get(key, "/v1/relays/r").status()).isEqualTo(404);
        assertThat(SERVER.query("SELECT count(*) FROM carillon.event_relay_held WHERE project = 'deciding'")
                        .number())
                .isZero();
    }

    @Test
    void a_project_sees_its_own_relays_and_sources_only() {
        String owner = SERVER.createProject("owner");
        relay("owner", null, null);
        SERVER.query("INSERT INTO carillon.event_source (project, name, part, next_position, blocked_at, reason)"
                + " VALUES ('owner', 's', 's-0', 7, carillon.clock(), 'cannot read it') RETURNING 1");
        String other = SERVER.createProject("other-than-owner");

        Reply sources = SERVER.get(owner, "/v1/sources").requireStatus(200);

        assertThat(sources.at("/items/0/partition")).isEqualTo("s-0");
        assertThat(sources.at("/items/0/next")).isEqualTo("7");
        assertThat(sources.at("/items/0/reason")).isEqualTo("cannot read it");
        assertThat(SERVER.get(other, "/v1/sources").json().path("items")).isEmpty();
        assertThat(SERVER.get(other, "/v1/relays").json().path("items")).isEmpty();
        assertThat(SERVER.get(other, "/v1/relays/r").status()).isEqualTo(404);
        assertThat(SERVER.delete(other, "/v1/relays/r").status()).isEqualTo(404);
    }
}
