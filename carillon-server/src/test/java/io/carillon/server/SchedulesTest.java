package io.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

/** Schedules over HTTP: created, changed, read and rejected. */
class SchedulesTest {
    private static final String DAILY = """
            {"when":{"cron":"0 2 * * *","zone":"Europe/Paris"},"target":{"handler":"report.build"},\
            "payload":{"region":"eu","sum":1.10}}""";

    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer();

    private static String key() {
        return SERVER.bootstrap();
    }

    @Test
    void shows_when_it_was_made_and_changed_and_its_last_run() {
        String key = SERVER.createProject("facts");
        SERVER.createPartitionsOfToday();
        RestTestServer.Reply made = SERVER.put(
                        key,
                        "/v1/schedules/nightly",
                        "{\"when\":{\"cron\":\"0 3 * * *\"},\"target\":{\"handler\":\"a\"}}")
                .requireStatus(201);
        assertThat(made.at("/createdAt")).isNotEmpty().isEqualTo(made.at("/updatedAt"));
        SERVER.database().execute("""
                INSERT INTO carillon.run_history (project, id, day, queue, priority, node_deaths, crashes, attempt,
                  failures, due_at, planned_at, started_at, ended_at,
                                                  created_at, state, origin, target, target_name, schedule_id)
                SELECT 'facts', gen_random_uuid(), (carillon.clock() AT TIME ZONE 'UTC')::date, 'q', 1, 0, 0, 1, 0, at,
                       at, at + interval '2 s', at + interval '3 s',
                       at, state, 'tick', 'handler', 'a', id
                  FROM carillon.schedule, (VALUES (timestamptz '2026-01-02 03:00Z', 'succeeded'),
                    ('2026-01-03 03:00Z', 'dead')) run(at, state)
                 WHERE project = 'facts'
                """);

        RestTestServer.Reply shown = SERVER.get(key, "/v1/schedules/nightly").requireStatus(200);

        assertThat(shown.at("/lastRun/state")).isEqualTo("dead");
        assertThat(shown.at("/lastRun/plannedAt")).isEqualTo("2026-01-03T03:00:00Z");
        assertThat(shown.at("/lastRun/endedAt")).isEqualTo("2026-01-03T03:00:03Z");
        assertThat(SERVER.get(key, "/v1/runs/" + shown.at("/lastRun/run"))
                        .requireStatus(200)
                        .at("/late"))
                .isEqualTo("PT2S");
    }

    @Test
    void is_created_read_changed_and_deleted() {
        RestTestServer.Reply made =
                SERVER.put(key(), "/v1/schedules/nightly", DAILY).requireStatus(201);
        assertThat(made.at("/payload/region")).isEqualTo("eu");
        assertThat(made.text()).contains("\"sum\":1.10");
        assertThat(made.json().path("nextRuns")).hasSize(5);
        assertThat(made.at("/description")).contains("02:00");
        assertThat(made.header("ETag")).contains("\"1\"");
        String tag = SERVER.get(key(), "/v1/schedules/nightly")
                .requireStatus(200)
                .header("ETag")
                .orElseThrow();
        assertThat(tag).startsWith("\"1:");

        assertThat(SERVER.put(key(), "/v1/schedules/nightly", DAILY)
                        .requireStatus(200)
                        .header("ETag"))
                .contains("\"1\"");
        assertThat(SERVER.get(key(), "/v1/schedules/nightly").requireStatus(200).header("ETag"))
                .contains(tag);
        assertThat(SERVER.put(key(), "/v1/schedules/nightly", DAILY.replace("0 2", "0 3"))
                        .requireStatus(200)
                        .at("/version"))
                .isEqualTo("2");

        SERVER.delete(key(), "/v1/schedules/nightly").requireStatus(204);
        SERVER.get(key(), "/v1/schedules/nightly").requireStatus(404);
        SERVER.delete(key(), "/v1/schedules/nightly").requireStatus(404);
    }

    @Test
    void an_unreadable_schedule_is_shown_replaced_and_deleted() {
        String key = SERVER.createProject("unreadable");
        for (String name : java.util.List.of("a", "b", "c"))
            SERVER.put(key, "/v1/schedules/" + name, DAILY).requireStatus(201);
        String zone = "UPDATE carillon.schedule SET zone = 'Mars/Olympus' WHERE project = 'unreadable'"
                + " AND name IN ('b', 'c')";
        SERVER.database().execute(zone);

        RestTestServer.Reply page = SERVER.get(key, "/v1/schedules").requireStatus(200);
        assertThat(page.json().path("items")).hasSize(3);
        assertThat(page.at("/items/1/unreadable/error")).contains("Mars/Olympus");
        assertThat(page.at("/items/1/description"))
                .startsWith("cannot be read: ")
                .contains("Mars/Olympus");
        RestTestServer.Reply shown = SERVER.get(key, "/v1/schedules/b").requireStatus(200);
        assertThat(shown.at("/unreadable/stored/zone")).isEqualTo("Mars/Olympus");
        assertThat(shown.at("/target/handler")).isEqualTo("report.build");
        assertThat(shown.json().path("when").has("cron")).isFalse();
        assertThat(shown.at("/missed")).isEqualTo("run-once");
        SERVER.get(key, "/v1/timeline").requireStatus(200);

        RestTestServer.Reply replaced =
                SERVER.put(key, "/v1/schedules/b", DAILY).requireStatus(200);
        assertThat(replaced.json().has("unreadable")).isFalse();
        assertThat(replaced.json().path("nextRuns")).hasSize(5);
        SERVER.delete(key, "/v1/schedules/c").requireStatus(204);
        SERVER.get(key, "/v1/schedules/c").requireStatus(404);
    }

    @Test
    void keeps_every_policy() {
        String all = """
                {"when":{"every":{"amount":2,"unit":"weeks","start":"2026-01-05T08:00:00Z"},"zone":"Europe/Berlin",
                "from":"2026-01-01T00:00:00Z","until":"2999-01-01T00:00:00Z","except":["2026-12-25"],"maxRuns":99,
                "jitter":"30s","gap":"skip","repeat":"both"},
                "target":{"handler":"a.b"},"queue":"mail","priority":"low","missed":"run-all","overlap":"queue-one",
                "grace":"PT10M","catchUp":"2h",
                "missedCap":7,"missedSpread":"PT5S","pauseAfter":3}""";
        SERVER.put(key(), "/v1/schedules/full", all).requireStatus(201);
        RestTestServer.Reply shown = SERVER.get(key(), "/v1/schedules/full").requireStatus(200);
        assertThat(shown.at("/when/every/unit")).isEqualTo("weeks");
        assertThat(shown.at("/when/except/0")).isEqualTo("2026-12-25");
        assertThat(shown.at("/when/jitter")).isEqualTo("PT30S");
        assertThat(shown.at("/when/gap")).isEqualTo("skip");
        assertThat(shown.at("/missed")).isEqualTo("run-all");
        assertThat(shown.at("/overlap")).isEqualTo("queue-one");
        assertThat(shown.at("/catchUp")).isEqualTo("PT2H");
        assertThat(shown.at("/missedCap")).isEqualTo("7");
        assertThat(shown.at("/pauseAfter")).isEqualTo("3");
        assertThat(shown.at("/priority")).isEqualTo("low");
        SERVER.put(
                        key(),
                        "/v1/schedules/once",
                        "{\"when\":{\"once\":\"2999-01-01T00:00:00Z\"},\"target\":{\"handler\":\"a\"}}")
                .requireStatus(201);
        SERVER.put(
                        key(),
                        "/v1/schedules/adaptive",
                        "{\"when\":{\"adaptive\":{\"min\":\"10s\",\"max\":\"1h\"}},\"target\":{\"handler\":\"a\"}}")
                .requireStatus(201);
    }

    @Test
    void a_stale_tag_is_refused_and_changes_nothing() {
        String tag = SERVER.put(key(), "/v1/schedules/tagged", DAILY)
                .requireStatus(201)
                .header("ETag")
                .orElseThrow();
        String later = DAILY.replace("0 2", "0 4");
        SERVER.send(key(), "PUT", "/v1/schedules/tagged", later, "If-Match", tag)
                .requireStatus(200);
        String latest = DAILY.replace("0 2", "0 5");
        assertThat(SERVER.send(key(), "PUT", "/v1/schedules/tagged", latest, "If-Match", tag)
                        .requireStatus(412)
                        .code())
                .isEqualTo("precondition-failed");
        SERVER.send(key(), "PUT", "/v1/schedules/tagged", latest, "If-None-Match", "*")
                .requireStatus(412);
        SERVER.send(key(), "DELETE", "/v1/schedules/tagged", null, "If-Match", tag)
                .requireStatus(412);
        SERVER.send(key(), "PUT", "/v1/schedules/tagged-new", DAILY, "If-Match", "*")
                .requireStatus(412);
        SERVER.get(key(), "/v1/schedules/tagged-new").requireStatus(404);
        assertThat(SERVER.get(key(), "/v1/schedules/tagged").at("/when/cron")).isEqualTo("0 4 * * *");
    }

    @Test
    void pauses_resumes_and_says_by_whom() {
        SERVER.put(key(), "/v1/schedules/paused", DAILY).requireStatus(201);
        RestTestServer.Reply paused = SERVER.post(
                        key(),
                        "/v1/schedules/paused/pause",
                        "{\"reason\":\"holiday\",\"until\":\"2999-01-01T00:00:00Z\"}")
                .requireStatus(200);
        assertThat(paused.at("/paused/by")).startsWith("key ");
        assertThat(paused.at("/paused/reason")).isEqualTo("holiday");
        SERVER.post(key(), "/v1/schedules/paused/pause", null).requireStatus(200);
        RestTestServer.Reply resumed =
                SERVER.post(key(), "/v1/schedules/paused/resume", null).requireStatus(200);
        assertThat(resumed.json().has("paused")).isFalse();
        SERVER.post(key(), "/v1/schedules/paused/resume", "{}").requireStatus(200);
        SERVER.post(key(), "/v1/schedules/unknown/pause", null).requireStatus(404);
    }

    @Test
    void shows_all_schedules_on_one_timeline() {
        String dense = "{\"when\":{\"cron\":\"* * * * *"
                + " *\",\"from\":\"2026-02-01T00:00:00Z\"},\"target\":{\"handler\":\"a\"}}";
        String hours =
                "{\"when\":{\"cron\":\"0 * * * *\",\"from\":\"2026-02-01T00:00:00Z\"},\"target\":{\"handler\":\"a\"}}";
        SERVER.put(key(), "/v1/schedules/axis-dense", dense).requireStatus(201);
        SERVER.put(key(), "/v1/schedules/axis-hours", hours).requireStatus(201);
        SERVER.put(key(), "/v1/schedules/axis-paused", hours).requireStatus(201);
        SERVER.post(key(), "/v1/schedules/axis-paused/pause", null).requireStatus(200);
        SERVER.post(
                        key(),
                        "/v1/schedules/axis-hours/backfill",
                        "{\"from\":\"2026-02-01T01:00:00Z\",\"to\":\"2026-02-01T03:00:00Z\"}")
                .requireStatus(200);

        assertThat(row("axis-hours", "&from=2026-02-01T01:00:00Z&to=2026-02-01T03:00:00Z")
                        .path("past"))
                .hasSize(3)
                .allSatisfy(entry -> assertThat(entry.path("run").stringValue()).startsWith("run_"));
        assertThat(row("axis-hours", "&from=2999-01-01T00:00:00Z&to=2999-01-01T05:00:00Z")
                        .path("coming"))
                .hasSize(6);
        assertThat(row("axis-hours", "").path("coming")).hasSize(24);
        JsonNode many = row("axis-dense", "&from=2999-01-01T00:00:00Z&to=2999-01-01T05:00:00Z");
        assertThat(many.path("coming")).hasSize(200);
        assertThat(many.path("more").booleanValue()).isTrue();
        // Of very many instants, those nearest to now are shown.
        SERVER.post(
                        key(),
                        "/v1/schedules/axis-dense/backfill",
                        "{\"from\":\"2026-02-01T00:00:00Z\",\"to\":\"2026-02-01T00:05:00Z\"}")
                .requireStatus(200);
        JsonNode past = row("axis-dense", "&from=2026-02-01T00:00:00Z&to=2026-02-01T00:05:00Z");
        assertThat(past.path("past")).hasSize(200);
        assertThat(past.at("/past/199/from").stringValue()).isEqualTo("2026-02-01T00:05:00Z");
        assertThat(past.at("/past/0/from").stringValue()).isEqualTo("2026-02-01T00:01:41Z");
        assertThat(past.path("more").booleanValue()).isTrue();
        assertThat(row("axis-paused", "").path("paused").booleanValue()).isTrue();
        assertThat(row("axis-paused", "").path("coming")).isEmpty();
        SERVER.get(key(), "/v1/timeline?from=2026-02-02T00:00:00Z&to=2026-02-01T00:00:00Z")
                .requireStatus(400);
        SERVER.get(key(), "/v1/timeline?from=2026-02-01T00:00:00Z&to=2026-04-01T00:00:00Z")
                .requireStatus(400);
    }

    private JsonNode row(String schedule, String query) {
        return SERVER.get(key(), "/v1/timeline?limit=200" + query)
                .requireStatus(200)
                .json()
                .path("items")
                .valueStream()
                .filter(row -> row.path("schedule").stringValue("").equals(schedule))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void triggers_backfills_and_shows_its_ledger() {
        SERVER.put(
                        key(),
                        "/v1/schedules/hourly",
                        "{\"when\":{\"cron\":\"0 * * *"
                                + " *\",\"from\":\"2026-01-01T00:00:00Z\"},\"target\":{\"handler\":\"a\"}}")
                .requireStatus(201);
        String run = SERVER.post(key(), "/v1/schedules/hourly/trigger", null)
                .requireStatus(201)
                .at("/run");
        assertThat(SERVER.get(key(), "/v1/runs/" + run).requireStatus(200).at("/origin"))
                .isEqualTo("trigger");
        String range = "{\"from\":\"2026-02-01T00:00:00Z\",\"to\":\"2026-02-01T05:00:00Z\"";
        assertThat(SERVER.post(key(), "/v1/schedules/hourly/backfill", range + ",\"dryRun\":true}")
                        .requireStatus(200)
                        .at("/runs"))
                .isEqualTo("6");
        assertThat(SERVER.post(key(), "/v1/schedules/hourly/backfill", range + "}")
                        .requireStatus(200)
                        .at("/runs"))
                .isEqualTo("6");
        assertThat(SERVER.get(key(), "/v1/schedules/hourly/ledger?from=2026-02-01T00:00:00Z&to=2026-02-01T05:00:00Z")
                        .requireStatus(200)
                        .json()
                        .path("items"))
                .hasSize(6);
        SERVER.get(key(), "/v1/schedules/hourly/ledger").requireStatus(200);
        assertThat(SERVER.get(key(), "/v1/runs?schedule=hourly&limit=3")
                        .requireStatus(200)
                        .json()
                        .path("items"))
                .hasSize(3);
        SERVER.post(key(), "/v1/schedules/unknown/trigger", null).requireStatus(404);
        SERVER.get(key(), "/v1/schedules/unknown/ledger").requireStatus(404);
        SERVER.post(key(), "/v1/schedules/unknown/backfill", range + "}").requireStatus(404);
        SERVER.post(
                        key(),
                        "/v1/schedules/hourly/backfill",
                        "{\"from\":\"2026-02-02T00:00:00Z\",\"to\":\"2026-02-01T00:00:00Z\"}")
                .requireStatus(422);
    }

    @Test
    void previews_what_is_not_saved() {
        RestTestServer.Reply preview = SERVER.post(
                        key(),
                        "/v1/schedules:preview",
                        "{\"when\":{\"cron\":\"30 2 * *"
                                + " *\",\"zone\":\"Europe/Berlin\"},\"after\":\"2026-03-28T12:00:00Z\",\"count\":2}")
                .requireStatus(200);
        assertThat(preview.at("/entries/0/mark")).isEqualTo("moved");
        assertThat(SERVER.post(key(), "/v1/schedules:preview", "{\"when\":{\"cron\":\"* * * * *\"},\"count\":0}")
                        .requireStatus(422)
                        .at("/errors/0/pointer"))
                .isEqualTo("/count");
    }

    @Test
    void refusals_point_to_the_field() {
        assertThat(SERVER.put(
                                key(),
                                "/v1/schedules/x",
                                "{\"when\":{\"cron\":\"61 * * * *\"},\"target\":{\"handler\":\"a\"}}")
                        .requireStatus(422)
                        .at("/errors/0/pointer"))
                .isEqualTo("/when/cron");
        RestTestServer.Reply never = SERVER.put(
                        key(), "/v1/schedules/x", "{\"when\":{\"cron\":\"0 0 30 2 *\"},\"target\":{\"handler\":\"a\"}}")
                .requireStatus(422);
        assertThat(never.code()).isEqualTo("no-instants");
        assertThat(SERVER.put(
                                key(),
                                "/v1/schedules/x",
                                "{\"when\":{\"cron\":\"* * * *"
                                        + " *\",\"zone\":\"Mars/Base\"},\"target\":{\"handler\":\"a\"}}")
                        .requireStatus(422)
                        .at("/errors/0/pointer"))
                .isEqualTo("/when/zone");
        assertThat(SERVER.put(key(), "/v1/schedules/x", DAILY.replace("\"payload\"", "\"paylod\""))
                        .requireStatus(422)
                        .at("/errors/0/pointer"))
                .isEqualTo("/paylod");
        assertThat(SERVER.put(key(), "/v1/schedules/x", "{\"when\":{},\"target\":{\"handler\":\"a\"}}")
                        .requireStatus(422)
                        .at("/errors/0/pointer"))
                .isEqualTo("/when");
        assertThat(SERVER.put(key(), "/v1/schedules/BAD%20NAME", DAILY)
                        .requireStatus(422)
                        .code())
                .isEqualTo("invalid-name");
        SERVER.get(key(), "/v1/schedules/BAD%20NAME").requireStatus(404);
        SERVER.get(key(), "/v1/schedules/x").requireStatus(404);
    }

    @Test
    void lists_continue_by_cursor_and_refuse_foreign_cursors() {
        for (int i = 0; i < 5; i++)
            SERVER.put(key(), "/v1/schedules/page-" + i, DAILY).requireStatus(201);
        RestTestServer.Reply first = SERVER.get(key(), "/v1/schedules?limit=2").requireStatus(200);
        String next = first.at("/next");
        RestTestServer.Reply second =
                SERVER.get(key(), "/v1/schedules?limit=2&cursor=" + next).requireStatus(200);
        assertThat(second.at("/items/0/name")).isGreaterThan(first.at("/items/1/name"));
        assertThat(SERVER.get(key(), "/v1/schedules?cursor=" + next.substring(1))
                        .requireStatus(400)
                        .code())
                .isEqualTo("malformed-cursor");
        assertThat(SERVER.get(key(), "/v1/runs?cursor=" + next)
                        .requireStatus(400)
                        .code())
                .isEqualTo("malformed-cursor");
        assertThat(SERVER.get(key(), "/v1/schedules?limit=0").requireStatus(400).code())
                .isEqualTo("invalid-parameter");
        assertThat(SERVER.get(key(), "/v1/schedules?lmit=1").requireStatus(400).code())
                .isEqualTo("unknown-parameter");
    }

    @Test
    void warns_of_a_step_beyond_its_field_when_it_is_created_and_previewed() {
        String odd = DAILY.replace("0 2 * * *", "*/61 * * * *");

        assertThat(SERVER.put(key(), "/v1/schedules/odd", odd)
                        .requireStatus(201)
                        .at("/warnings/0"))
                .isEqualTo("a step of 61 in minutes runs once an hour");
        assertThat(SERVER.post(key(), "/v1/schedules:preview", "{\"when\":{\"cron\":\"*/61 * * * *\"}}")
                        .requireStatus(200)
                        .at("/warnings/0"))
                .isEqualTo("a step of 61 in minutes runs once an hour");
        assertThat(SERVER.put(key(), "/v1/schedules/plain", DAILY)
                        .requireStatus(201)
                        .json()
                        .path("warnings")
                        .toString())
                .doesNotContain("step");
    }

    @Test
    void a_backfill_says_what_it_does_about_dropped_history() {
        SERVER.put(key(), "/v1/schedules/dropped", DAILY).requireStatus(201);
        SERVER.database().execute("UPDATE carillon.schedule SET created_at = '2020-01-01Z' WHERE name = 'dropped'");
        String range = "{\"from\":\"2020-02-01T00:00:00Z\",\"to\":\"2020-02-05T00:00:00Z\",\"dryRun\":true";

        RestTestServer.Reply refused = SERVER.post(key(), "/v1/schedules/dropped/backfill", range + "}")
                .requireStatus(422);
        assertThat(refused.text())
                .contains("history-dropped", "4 instants from 2020-02-01T01:00:00Z to 2020-02-04T01:00:00Z");
        assertThat(SERVER.post(key(), "/v1/schedules/dropped/backfill", range + ",\"droppedHistory\":\"run\"}")
                        .requireStatus(200)
                        .at("/runs"))
                .isEqualTo("4");
    }

    @Test
    void schedules_are_found_by_the_beginning_of_their_name() {
        for (String name : List.of("found", "found.a", "found.b", "foundling", "fount"))
            SERVER.put(
                            SERVER.bootstrap(),
                            "/v1/schedules/" + name,
                            "{\"when\":{\"cron\":\"0 2 * * *\",\"zone\":\"UTC\"},\"target\":{\"handler\":\"a\"}}")
                    .requireStatus(201);

        List<String> names = new ArrayList<>();
        String path = "/v1/schedules?prefix=found&limit=2";
        for (String next = ""; next != null; ) {
            JsonNode page = SERVER.get(SERVER.bootstrap(), path + next)
                    .requireStatus(200)
                    .json();
            page.path("items").forEach(item -> names.add(item.path("name").asString()));
            next = page.has("next") ? "&cursor=" + page.path("next").asString() : null;
        }

        assertThat(names).containsExactly("found", "found.a", "found.b", "foundling");
        assertThat(SERVER.get(SERVER.bootstrap(), "/v1/schedules?prefix=foundx")
                        .requireStatus(200)
                        .json()
                        .path("items")
                        .size())
                .isZero();
        SERVER.get(SERVER.bootstrap(), "/v1/schedules?prefix=Found").requireStatus(400);
    }
}
