package io.carillon.internal.postgres.schedule;

import io.carillon.internal.jdbc.Database;
import io.carillon.internal.jdbc.DatabaseTime;
import io.carillon.internal.jdbc.Query;
import io.carillon.internal.jdbc.Session;
import io.carillon.internal.postgres.partition.Partitions;
import io.carillon.internal.run.PolicyText;
import io.carillon.internal.schedule.TickPlan;
import io.carillon.schedule.AdaptiveInterval;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.ScheduleChange;
import io.carillon.schedule.ScheduleDefinition;
import io.carillon.schedule.ScheduleId;
import io.carillon.schedule.SchedulePolicies;
import io.carillon.schedule.When;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Creates schedules with their first ticks: one statement for all of them. */
final class NewSchedules {
    // A schedule is visible only with its first ticks, and the notification is sent with the commit. Schedules whose
    // name exists by now are left out, with their ticks. The rows are in the order of their names: two callers that
    // create the same schedules wait for each other in one order.
    private static final String CREATE = """
            WITH definitions AS (
              SELECT * FROM unnest(:projects::text[], :ids::uuid[], :names::text[], :kinds::text[],
                  :expressions::text[], :zones::text[], :anchors::timestamptz[], :gaps::text[], :repeats::text[],
                  :starts::timestamptz[], :ends::timestamptz[], :excluded::text[], :maxRuns::bigint[],
                  :jitters::float8[], :queues::text[], :priorities::int[], :targets::text[], :targetNames::text[],
                  :payloads::bytea[], :codecs::text[], :headers::text[], :policies::text[], :pauseAfter::int[],
                  :missed::text[], :missedCaps::int[], :missedSpreads::float8[], :graces::float8[],
                  :catchUps::float8[], :overlaps::text[], :adaptiveMins::float8[], :adaptiveMaxs::float8[],
                  :owners::text[],
                  :createdAt::timestamptz[], :cursors::timestamptz[], :nextInstants::timestamptz[],
                  :tickFirsts::int[], :tickLasts::int[], :gapFirsts::int[], :gapLasts::int[])
                AS d(project, id, name, kind, expression, zone, anchor, gap, repeat, starts_at, ends_at, excluded,
                  max_runs, jitter, queue, priority, target, target_name, payload, codec, headers, policy,
                  pause_after, missed, missed_cap, missed_spread, grace, catch_up, overlap, adaptive_min, adaptive_max,
                  owner, created_at, cursor, next_at, tick_first, tick_last, gap_first, gap_last)),
            created AS (
              INSERT INTO carillon.schedule
                (project, id, name, kind, expression, zone, anchor, gap, repeat, starts_at, ends_at, excluded, max_runs,
                 jitter, queue, priority, target, target_name, payload, codec, headers, policy, pause_after, missed,
                 missed_cap, missed_spread, grace, catch_up, overlap, adaptive_min, adaptive_max, owner, adapted_cursor,
                 cursor, next_at, ticks, tzdata, created_at, updated_at)
              SELECT project, id, name, kind, expression, zone, anchor, gap, repeat, starts_at, ends_at,
                     excluded::date[], max_runs, make_interval(secs => jitter), queue, priority, target, target_name,
                     payload, codec, headers, policy, pause_after, missed, missed_cap,
                     make_interval(secs => missed_spread),
                     make_interval(secs => grace), make_interval(secs => catch_up), overlap,
                     make_interval(secs => adaptive_min), make_interval(secs => adaptive_max), owner, created_at,
                     cursor,
                     next_at, tick_last - tick_first + 1, :tzdata, created_at, created_at
                FROM definitions ORDER BY name
              ON CONFLICT (project, name) DO NOTHING
              RETURNING project, id, version, queue, priority, target, target_name, codec, payload, headers, policy,
                        overlap),
            advanced AS (
              SELECT c.*, d.tick_first, d.tick_last, d.gap_first, d.gap_last
                FROM created c JOIN definitions d ON d.id = c.id),
            """ + PlanRepository.INSERT_PLANNED + """
            , first_ticks AS (
              SELECT v.queue, v.project, min(t.due_at) AS due_at
                FROM advanced v
                CROSS JOIN LATERAL unnest((:tickDue::timestamptz[])[v.tick_first : v.tick_last]) AS t(due_at)
               GROUP BY v.queue, v.project)
            SELECT id FROM created
            UNION ALL
            SELECT NULL FROM first_ticks
             WHERE pg_notify('carillon', 'work ' || queue || ' ' || project || ' '
               || (extract(epoch FROM due_at) * 1000)::bigint) IS NULL
            """;

    /** With 64 ticks each, these are written in one or two seconds, far below the statement timeout. */
    private static final int MAX_CREATED = 300;

    private NewSchedules() {}

    /** Returns a new schedule that is not stored yet. */
    static Schedule unstored(ScheduleDefinition definition, Instant now) {
        return new Schedule(
                ScheduleId.generate(),
                1,
                definition,
                new Schedule.PlanningState(now, Instant.MAX, 0),
                null,
                new Schedule.Metadata(now, now, null));
    }

    /** Stores new schedules with their first ticks; leaves out those that another caller has created meanwhile. */
    static Map<String, ScheduleChange> createAll(
            Database database,
            Partitions partitions,
            List<TickPlan> plans,
            Function<ScheduleId, @Nullable String> headers) {
        Map<String, ScheduleChange> created = new HashMap<>();
        for (int first = 0; first < plans.size(); first += MAX_CREATED) {
            List<TickPlan> part = plans.subList(first, Math.min(plans.size(), first + MAX_CREATED));
            Set<UUID> ids =
                    partitions.creatingMissing(() -> database.single(session -> create(session, part, headers)));
            for (TickPlan plan : part)
                if (ids.contains(plan.schedule().id().value()))
                    created.put(plan.schedule().name(), new ScheduleChange.Created(plan.planned()));
        }
        return created;
    }

    /**
     * Stores these schedules with their plans.
     *
     * @param headers returns the headers of the runs of a schedule; null for none
     * @return the ids of the stored schedules; the names of the others exist already
     */
    private static Set<UUID> create(
            Session session, List<TickPlan> plans, Function<ScheduleId, @Nullable String> headers) throws SQLException {
        PlanRows rows = PlanRows.of(plans);
        List<Schedule> schedules =
                rows.inOrder().stream().map(TickPlan::schedule).toList();
        Query query = session.query(CREATE)
                .text("tzdata", ScheduleRows.tzdata())
                .column("ids", "uuid", schedules, schedule -> schedule.id().value())
                .column("headers", "text", schedules, schedule -> headers.apply(schedule.id()))
                .column(
                        "createdAt",
                        "timestamptz",
                        schedules,
                        schedule -> schedule.metadata().createdAt());
        bindDefinitions(query, schedules.stream().map(Schedule::definition).toList());
        return new HashSet<>(rows.bindPlanned(query).list(row -> row.uuid("id")));
    }

    private static void bindDefinitions(Query query, List<ScheduleDefinition> definitions) throws SQLException {
        List<When> timings = definitions.stream().map(ScheduleDefinition::when).toList();
        query.column("projects", "text", definitions, ScheduleDefinition::project)
                .column("names", "text", definitions, ScheduleDefinition::name)
                .column(
                        "owners",
                        "text",
                        definitions,
                        definition -> definition.owner().text())
                .column("kinds", "text", timings, ScheduleRows::kind)
                .column("expressions", "text", timings, ScheduleRows::expression)
                .column("anchors", "timestamptz", timings, ScheduleRows::anchor)
                .column("zones", "text", timings, when -> when.zone().getId())
                .column(
                        "gaps",
                        "text",
                        timings,
                        when -> ScheduleRows.text(when.dst().gap()))
                .column(
                        "repeats",
                        "text",
                        timings,
                        when -> ScheduleRows.text(when.dst().repeat()))
                .column("starts", "timestamptz", timings, when -> when.bounds().from())
                .column("ends", "timestamptz", timings, when -> when.bounds().until())
                .column("excluded", "text", timings, when -> "{" + String.join(",", ScheduleRows.excluded(when)) + "}")
                .column("maxRuns", "int8", timings, when -> when.bounds().maxRuns())
                .column("jitters", "float8", timings, when -> DatabaseTime.seconds(when.jitter()))
                .column("adaptiveMins", "float8", timings, when -> adaptive(when, AdaptiveInterval::min))
                .column("adaptiveMaxs", "float8", timings, when -> adaptive(when, AdaptiveInterval::max));
        bindTemplates(
                query, definitions.stream().map(ScheduleDefinition::template).toList());
        bindPolicies(
                query, definitions.stream().map(ScheduleDefinition::policies).toList());
    }

    private static void bindTemplates(Query query, List<ScheduleDefinition.RunTemplate> templates) throws SQLException {
        query.column("queues", "text", templates, ScheduleDefinition.RunTemplate::queue)
                .column("priorities", "int4", templates, ScheduleDefinition.RunTemplate::priority)
                .column("targets", "text", templates, ScheduleDefinition.RunTemplate::targetKind)
                .column("targetNames", "text", templates, ScheduleDefinition.RunTemplate::targetName)
                .column("payloads", "bytea", templates, ScheduleDefinition.RunTemplate::payload)
                .column("codecs", "text", templates, ScheduleDefinition.RunTemplate::codec)
                .column("policies", "text", templates, template -> PolicyText.of(template.policy()));
    }

    private static void bindPolicies(Query query, List<SchedulePolicies> policies) throws SQLException {
        query.column("missed", "text", policies, policy -> policy.missed().text())
                .column(
                        "missedCaps",
                        "int4",
                        policies,
                        policy -> policy.runAll().cap())
                .column(
                        "missedSpreads",
                        "float8",
                        policies,
                        policy -> DatabaseTime.seconds(policy.runAll().spread()))
                .column("graces", "float8", policies, policy -> DatabaseTime.seconds(policy.grace()))
                .column("catchUps", "float8", policies, policy -> DatabaseTime.seconds(policy.catchUp()))
                .column("overlaps", "text", policies, policy -> policy.overlap().text())
                .column("pauseAfter", "int4", policies, SchedulePolicies::pauseAfter);
    }

    private static @Nullable Double adaptive(When when, Function<AdaptiveInterval, Duration> bound) {
        AdaptiveInterval adaptive = when.adaptive();
        return adaptive == null ? null : DatabaseTime.seconds(bound.apply(adaptive));
    }
}
