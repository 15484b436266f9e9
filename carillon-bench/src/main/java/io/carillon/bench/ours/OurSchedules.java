package io.carillon.bench.ours;

import io.carillon.Carillon;
import io.carillon.bench.measure.FirePlan;
import io.carillon.bench.server.BenchDatabase;
import io.carillon.schedule.When;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;

/** Stores many schedules: one through the front door, and copies of its row with other names and phases. */
public final class OurSchedules {
    private static final String TEMPLATE = "template";

    // populate_record takes every column it is not told of from the first row, whatever columns there are.
    private static final String COPY = """
            INSERT INTO carillon.schedule
            SELECT copy.*
              FROM carillon.schedule template, generate_series(?, ? - 1) AS number,
                   LATERAL (SELECT ?::timestamptz + number * ? * interval '1 microsecond' AS at) phase,
                   LATERAL jsonb_populate_record(template, jsonb_build_object(
                     'id', uuidv7(), 'name', ? || number, 'queue', ?::text, 'anchor', phase.at,
                     'cursor', phase.at - interval '1 microsecond', 'next_at', phase.at)) AS copy
             WHERE template.name = 'template'
            """;

    private OurSchedules() {}

    /** The schedules of a plan; the first fires at {@code first}. */
    public static void store(BenchDatabase database, Carillon carillon, FirePlan plan, Instant first)
            throws SQLException {
        store(database, carillon, plan, first, "s", Job.QUEUE);
    }

    /** The same under names of their own in a queue of their own. */
    public static void store(
            BenchDatabase database, Carillon carillon, FirePlan plan, Instant first, String prefix, String queue)
            throws SQLException {
        // Far away, so that the template itself plans nothing.
        When far = When.every(
                plan.period().toSeconds(),
                ChronoUnit.SECONDS,
                first.plus(2, ChronoUnit.DAYS).atZone(ZoneOffset.UTC));
        carillon.schedules().upsert(TEMPLATE, far, Job.TYPE, Job.of(0));
        try (Connection connection = database.connect();
                PreparedStatement copy = connection.prepareStatement(COPY)) {
            copy.setInt(1, 0);
            copy.setInt(2, plan.schedules());
            copy.setObject(3, OffsetDateTime.ofInstant(first, ZoneOffset.UTC));
            copy.setLong(4, plan.stepNanos() / 1000);
            copy.setString(5, prefix);
            copy.setString(6, queue);
            copy.executeUpdate();
        }
        carillon.schedules().delete(TEMPLATE);
        database.settle();
    }
}
