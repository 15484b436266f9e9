package io.carillon.bench.ours;

import io.carillon.Carillon;
import io.carillon.bench.measure.FirePlan;
import io.carillon.bench.server.BenchDatabase;
import io.carillon.event.NewEvent;
import io.carillon.schedule.ScheduleOptions;
import io.carillon.schedule.When;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;

/** Stores many schedules: one through the public API, and copies of its row with other names and phases. */
public final class CarillonSchedules {
    private static final String TEMPLATE = "template";

    // jsonb_populate_record takes all columns that are not given from the template row, so that new columns need no
    // change here.
    private static final String COPY = """
            INSERT INTO carillon.schedule
            SELECT copy.*
              FROM carillon.schedule template, generate_series(0, ? - 1) AS number,
                   LATERAL (SELECT ?::timestamptz + number * ? * interval '1 microsecond' AS at) phase,
                   LATERAL jsonb_populate_record(template, jsonb_build_object(
                     'id', uuidv7(), 'name', ? || number, 'anchor', phase.at,
                     'cursor', phase.at - interval '1 microsecond', 'next_at', phase.at)) AS copy
             WHERE template.name = 'template'
            """;

    private CarillonSchedules() {}

    /** A number of schedules whose first instants are a step apart. */
    public record Copies(String prefix, int count, When when, Instant first, long stepMicros) {
        /** Returns the schedules of a plan. */
        public static Copies of(FirePlan plan, Instant first) {
            return new Copies("s", plan.schedules(), far(plan.period(), first), first, plan.stepNanos() / 1000);
        }

        /** Returns schedules that fire for the first time in a day. */
        public static Copies dormant(String prefix, int count, Instant now) {
            Instant first = now.plus(1, ChronoUnit.DAYS);
            return new Copies(prefix, count, far(Duration.ofDays(1), first), first, 1_000);
        }

        /**
         * Returns schedules that all fire at the same instants.
         *
         * @param times the number of instants
         */
        public static Copies herd(int count, Duration period, Instant first, int times) {
            When when = far(period, first)
                    .until(first.plus(period.multipliedBy(times - 1L)).plusMillis(1));
            return new Copies("herd", count, when, first, 0);
        }
    }

    private static When far(Duration period, Instant first) {
        return When.every(period.toSeconds(), ChronoUnit.SECONDS, first.atZone(ZoneOffset.UTC));
    }

    public static void store(BenchDatabase database, Carillon carillon, Copies copies) throws SQLException {
        carillon.schedules().upsert(TEMPLATE, copies.when, BenchPayload.TYPE, BenchPayload.of(0));
        copyTemplate(database, carillon, copies);
    }

    /** Stores schedules that publish an event. */
    static void storeEvents(BenchDatabase database, Carillon carillon, Copies copies, NewEvent<?> event)
            throws SQLException {
        carillon.schedules().upsert(TEMPLATE, copies.when, event, ScheduleOptions.defaults());
        copyTemplate(database, carillon, copies);
    }

    private static void copyTemplate(BenchDatabase database, Carillon carillon, Copies copies) throws SQLException {
        try (Connection connection = database.connect();
                PreparedStatement copy = connection.prepareStatement(COPY)) {
            copy.setInt(1, copies.count);
            copy.setObject(2, OffsetDateTime.ofInstant(copies.first, ZoneOffset.UTC));
            copy.setLong(3, copies.stepMicros);
            copy.setString(4, copies.prefix);
            copy.executeUpdate();
        }
        // This also deletes the ticks of the template.
        carillon.schedules().delete(TEMPLATE);
        database.analyzeAndCheckpoint();
    }
}
