package io.carillon.internal.postgres.schedule;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.internal.jdbc.DatabaseTime;
import io.carillon.internal.jdbc.Query;
import io.carillon.internal.jdbc.Row;
import io.carillon.internal.run.PolicyText;
import io.carillon.internal.value.ControlCharacters;
import io.carillon.internal.value.TextCleaner;
import io.carillon.schedule.AdaptiveInterval;
import io.carillon.schedule.CronExpression;
import io.carillon.schedule.DstPolicy;
import io.carillon.schedule.Interval;
import io.carillon.schedule.MissedPolicy;
import io.carillon.schedule.OverlapPolicy;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.ScheduleDefinition;
import io.carillon.schedule.ScheduleId;
import io.carillon.schedule.SchedulePolicies;
import io.carillon.schedule.When;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.time.zone.ZoneRulesProvider;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Schedules as parameters of statements and as rows. */
final class ScheduleRows {
    static final String COLUMNS = """
            s.project, s.id, s.name, s.version, s.kind, s.expression, s.zone, s.anchor, s.gap, s.repeat, s.starts_at,
              s.ends_at,
            s.excluded::text[] AS excluded, s.max_runs, s.missed_cap,
              extract(epoch FROM s.missed_spread) AS missed_spread, s.pause_after,
            extract(epoch FROM s.jitter) AS jitter, s.queue, s.priority, s.target, s.target_name, s.payload, s.codec,
              s.policy, s.missed,
            extract(epoch FROM s.grace) AS grace, extract(epoch FROM s.catch_up) AS catch_up, s.overlap,
            extract(epoch FROM s.adaptive_min) AS adaptive_min, extract(epoch FROM s.adaptive_max) AS adaptive_max,
              s.cursor, s.next_at, s.ticks, s.paused_at, s.paused_by, s.paused_reason, s.paused_until,
            s.created_at, s.updated_at, s.owner
            """;

    private static final Logger log = LoggerFactory.getLogger(ScheduleRows.class);

    private ScheduleRows() {}

    /** The text columns of a definition, which another version may write differently. */
    private static final List<String> TEXT_COLUMNS =
            List.of("kind", "expression", "zone", "gap", "repeat", "missed", "overlap");

    /** Reads a schedule; marks one whose definition cannot be read, see {@link Schedule#unreadable}. */
    static Schedule readOrMark(Row row) throws SQLException {
        try {
            return read(row);
        } catch (RuntimeException failure) {
            Map<String, String> stored = new LinkedHashMap<>();
            for (String column : TEXT_COLUMNS) stored.put(column, row.text(column));
            String error = TextCleaner.clean(String.valueOf(failure.getMessage()), 1_000);
            When when = new When(
                    new When.Timing.Unreadable(stored, error),
                    readOrDefault(() -> dst(row), DstPolicy.defaults()),
                    bounds(row),
                    row.seconds("jitter"));
            SchedulePolicies defaults = SchedulePolicies.defaults();
            return read(
                    row,
                    when,
                    policies(
                            row,
                            readOrDefault(() -> MissedPolicy.of(row.text("missed")), defaults.missed()),
                            readOrDefault(() -> OverlapPolicy.of(row.text("overlap")), defaults.overlap())));
        }
    }

    /** A function that reads a value of a row. */
    private interface ValueReader<T> {
        T read() throws SQLException;
    }

    private static <T> T readOrDefault(ValueReader<T> reader, T otherwise) throws SQLException {
        try {
            return reader.read();
        } catch (RuntimeException unknown) {
            return otherwise;
        }
    }

    static CarillonException unknownSchedule(String name) {
        return new CarillonException(
                ErrorCode.UNKNOWN_SCHEDULE,
                "There is no schedule '%s'. schedules().list() returns the existing schedules.".formatted(name));
    }

    /** Returns the schedule if its definition can be read, and throws otherwise. */
    static Schedule requireReadable(Schedule schedule) {
        When.Timing.Unreadable unreadable = schedule.unreadable();
        if (unreadable == null) return schedule;
        throw new CarillonException(
                ErrorCode.SCHEDULE_UNREADABLE,
                "Schedule '%s' cannot be read by this version: %s. Replace it or delete it."
                        .formatted(schedule.name(), unreadable.error()));
    }

    static Schedule read(Row row) throws SQLException {
        return read(
                row,
                when(row),
                policies(row, MissedPolicy.of(row.text("missed")), OverlapPolicy.of(row.text("overlap"))));
    }

    private static SchedulePolicies policies(Row row, MissedPolicy missedPolicy, OverlapPolicy overlapPolicy)
            throws SQLException {
        return new SchedulePolicies(
                missedPolicy,
                row.seconds("grace"),
                row.seconds("catch_up"),
                new SchedulePolicies.RunAllLimits(row.integer("missed_cap"), row.seconds("missed_spread")),
                overlapPolicy,
                row.maybeInteger("pause_after"));
    }

    private static Schedule read(Row row, When when, SchedulePolicies schedulePolicies) throws SQLException {
        ScheduleDefinition.RunTemplate runTemplate = new ScheduleDefinition.RunTemplate(
                row.text("queue"),
                row.integer("priority"),
                row.text("target"),
                row.text("target_name"),
                row.bytes("payload"),
                row.text("codec"),
                PolicyText.parse(row.maybeText("policy")));
        ScheduleDefinition scheduleDefinition = new ScheduleDefinition(
                row.text("project"),
                row.text("name"),
                when,
                runTemplate,
                schedulePolicies,
                ScheduleDefinition.Owner.valueOf(upper(row.text("owner"))));
        return new Schedule(
                new ScheduleId(row.uuid("id")),
                row.number("version"),
                scheduleDefinition,
                new Schedule.PlanningState(row.instant("cursor"), row.instant("next_at"), row.number("ticks")),
                pause(row),
                new Schedule.Metadata(row.instant("created_at"), row.instant("updated_at"), null));
    }

    /**
     * Schedules that this process cannot read or change, such as schedules of a newer version or with a time zone that
     * its rules do not contain. Such a schedule affects no other: it is left out for 30 seconds, logged, and reported
     * by the health check.
     */
    static final class UnreadableSchedules {
        private static final int MAX_ENTRIES = 10_000;
        private static final long RETRY_NANOS = Duration.ofSeconds(30).toNanos();
        private static final long LOG_INTERVAL_NANOS = Duration.ofMinutes(10).toNanos();

        private record UnreadableEntry(String schedule, String error, long triedAt, long loggedAt) {}

        private final Map<UUID, UnreadableEntry> entries = new ConcurrentHashMap<>();

        /** Reads the schedule of a row; empty if it cannot be read. */
        Optional<Schedule> read(Row row) throws SQLException {
            try {
                Schedule schedule = ScheduleRows.read(row);
                if (!entries.isEmpty()) entries.remove(schedule.id().value());
                return Optional.of(schedule);
            } catch (RuntimeException failure) {
                add(row.uuid("id"), row.text("project") + "/" + row.text("name"), String.valueOf(failure.getMessage()));
                return Optional.empty();
            }
        }

        /** A query for {@code count} rows after a name. */
        @FunctionalInterface
        interface PageQuery {
            Query after(String name, int count) throws SQLException;
        }

        /**
         * Reads the schedule of a row, marked if its definition cannot be read; empty if even its name cannot be read.
         */
        private Optional<Schedule> readForList(Row row) throws SQLException {
            try {
                return Optional.of(readOrMark(row));
            } catch (RuntimeException failure) {
                return read(row);
            }
        }

        /** Returns up to {@code limit} schedules; rows that cannot be shown do not end a page early. */
        List<Schedule> page(int limit, String after, PageQuery pageQuery) throws SQLException {
            List<Schedule> found = new ArrayList<>();
            String behind = after;
            while (found.size() < limit) {
                int missing = limit - found.size();
                List<String> names = new ArrayList<>();
                List<Optional<Schedule>> part = pageQuery.after(behind, missing).list(row -> {
                    names.add(row.text("name"));
                    return readForList(row);
                });
                part.forEach(one -> one.ifPresent(found::add));
                if (names.size() < missing) break;
                behind = names.get(names.size() - 1);
            }
            return found;
        }

        /** Returns the schedules of all rows that can be read. */
        List<Schedule> list(Query query) throws SQLException {
            return query.list(this::read).stream().flatMap(Optional::stream).toList();
        }

        void add(UUID id, String schedule, String error) {
            UnreadableEntry before = entries.get(id);
            long now = System.nanoTime();
            if (before == null && entries.size() >= MAX_ENTRIES) return;
            long logged = before != null && now - before.loggedAt < LOG_INTERVAL_NANOS ? before.loggedAt : now;
            entries.put(id, new UnreadableEntry(schedule, error, now, logged));
            if (logged == now)
                log.warn(
                        "schedule cannot be planned by this node schedule={} error={}",
                        schedule,
                        ControlCharacters.escape(error));
        }

        /** Returns the schedules to leave out; each is tried again after 30 seconds. */
        Set<UUID> excludedIds() {
            long now = System.nanoTime();
            entries.values().removeIf(unreadableEntry -> now - unreadableEntry.triedAt > LOG_INTERVAL_NANOS);
            return entries.entrySet().stream()
                    .filter(note -> now - note.getValue().triedAt < RETRY_NANOS)
                    .map(Map.Entry::getKey)
                    .collect(Collectors.toUnmodifiableSet());
        }

        /** Returns the errors by project and name. */
        Map<String, String> errorsByName() {
            Map<String, String> named = new TreeMap<>();
            entries.values().forEach(unreadableEntry -> named.put(unreadableEntry.schedule, unreadableEntry.error));
            return named;
        }
    }

    private static Schedule.@Nullable Pause pause(Row row) throws SQLException {
        Instant at = row.maybeInstant("paused_at");
        if (at == null) return null;
        return new Schedule.Pause(
                at, row.text("paused_by"), row.maybeText("paused_reason"), row.maybeInstant("paused_until"));
    }

    private static When when(Row row) throws SQLException {
        return new When(timing(row), dst(row), bounds(row), row.seconds("jitter"));
    }

    private static DstPolicy dst(Row row) throws SQLException {
        return new DstPolicy(
                DstPolicy.Gap.valueOf(upper(row.text("gap"))), DstPolicy.Repeat.valueOf(upper(row.text("repeat"))));
    }

    private static When.Bounds bounds(Row row) throws SQLException {
        return new When.Bounds(
                row.maybeInstant("starts_at"),
                row.maybeInstant("ends_at"),
                row.texts("excluded").stream().map(LocalDate::parse).collect(Collectors.toSet()),
                row.maybeNumber("max_runs"));
    }

    private static When.Timing timing(Row row) throws SQLException {
        ZoneId zone = ZoneId.of(row.text("zone"));
        String expression = row.text("expression");
        return switch (row.text("kind")) {
            case "cron" -> new When.Timing.Cron(CronExpression.parse(expression), zone);
            case "interval" -> {
                int blank = expression.indexOf(' ');
                Interval interval = Interval.every(
                        Long.parseLong(expression.substring(0, blank)),
                        ChronoUnit.valueOf(upper(expression.substring(blank + 1))),
                        row.instant("anchor").atZone(zone));
                yield new When.Timing.Every(interval, adaptive(row));
            }
            default -> new When.Timing.Once(row.instant("anchor"));
        };
    }

    private static @Nullable AdaptiveInterval adaptive(Row row) throws SQLException {
        Duration min = row.maybeSeconds("adaptive_min");
        return min == null ? null : new AdaptiveInterval(min, row.seconds("adaptive_max"));
    }

    /** Returns the definition as it will be read back: PostgreSQL keeps microseconds. */
    static ScheduleDefinition asStored(ScheduleDefinition scheduleDefinition) {
        When when = scheduleDefinition.when();
        When.Bounds bounds = new When.Bounds(
                rounded(when.bounds().from()),
                rounded(when.bounds().until()),
                when.bounds().excluded(),
                when.bounds().maxRuns());
        return new ScheduleDefinition(
                scheduleDefinition.project(),
                scheduleDefinition.name(),
                new When(asStored(when.timing()), when.dst(), bounds, when.jitter()),
                scheduleDefinition.template(),
                scheduleDefinition.policies(),
                scheduleDefinition.owner());
    }

    private static When.Timing asStored(When.Timing timing) {
        if (timing instanceof When.Timing.Once once) return new When.Timing.Once(DatabaseTime.rounded(once.at()));
        if (!(timing instanceof When.Timing.Every every)) return timing;
        Interval interval = every.interval();
        Instant start = DatabaseTime.rounded(interval.start().toInstant());
        return new When.Timing.Every(
                Interval.every(
                        interval.amount(),
                        interval.unit(),
                        start.atZone(interval.start().getZone())),
                every.adaptive());
    }

    private static @Nullable Instant rounded(@Nullable Instant instant) {
        return instant == null ? null : DatabaseTime.rounded(instant);
    }

    /** Binds the columns of the definition. */
    static Query bind(Query query, ScheduleDefinition scheduleDefinition) throws SQLException {
        When when = scheduleDefinition.when();
        ScheduleDefinition.RunTemplate runTemplate = scheduleDefinition.template();
        AdaptiveInterval adaptiveInterval = when.adaptive();
        return query.text("kind", kind(when))
                .text("expression", expression(when))
                .instant("anchor", anchor(when))
                .seconds("adaptiveMin", adaptiveInterval == null ? null : adaptiveInterval.min())
                .seconds("adaptiveMax", adaptiveInterval == null ? null : adaptiveInterval.max())
                .text("project", scheduleDefinition.project())
                .text("name", scheduleDefinition.name())
                .text("zone", when.zone().getId())
                .text("gap", text(when.dst().gap()))
                .text("repeat", text(when.dst().repeat()))
                .instant("startsAt", when.bounds().from())
                .instant("endsAt", when.bounds().until())
                .texts("excluded", excluded(when))
                .number("maxRuns", when.bounds().maxRuns())
                .seconds("jitter", when.jitter())
                .text("queue", runTemplate.queue())
                .number("priority", runTemplate.priority())
                .text("target", runTemplate.targetKind())
                .text("targetName", runTemplate.targetName())
                .bytes("payload", runTemplate.payload())
                .text("codec", runTemplate.codec())
                .text("policy", PolicyText.of(runTemplate.policy()))
                .text("missed", scheduleDefinition.policies().missed().text())
                .seconds("grace", scheduleDefinition.policies().grace())
                .seconds("catchUp", scheduleDefinition.policies().catchUp())
                .number("missedCap", scheduleDefinition.policies().runAll().cap())
                .seconds("missedSpread", scheduleDefinition.policies().runAll().spread())
                .number("pauseAfter", scheduleDefinition.policies().pauseAfter())
                .text("overlap", scheduleDefinition.policies().overlap().text())
                .text("owner", scheduleDefinition.owner().text());
    }

    static String kind(When when) {
        if (when.timing() instanceof When.Timing.Cron) return "cron";
        return when.timing() instanceof When.Timing.Every ? "interval" : "once";
    }

    static String expression(When when) {
        if (when.timing() instanceof When.Timing.Cron cron)
            return cron.expression().toString();
        if (!(when.timing() instanceof When.Timing.Every every)) return "";
        return every.interval().amount() + " " + text(every.interval().unit());
    }

    static @Nullable Instant anchor(When when) {
        if (when.timing() instanceof When.Timing.Every every)
            return every.interval().start().toInstant();
        return when.timing() instanceof When.Timing.Once once ? once.at() : null;
    }

    static List<String> excluded(When when) {
        return when.bounds().excluded().stream()
                .sorted()
                .map(LocalDate::toString)
                .toList();
    }

    /** Returns the name of a constant as the tables have it. */
    static String text(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    private static String upper(String text) {
        return text.toUpperCase(Locale.ROOT).replace('-', '_');
    }

    /** Returns the version of the time zone rules with which this process plans. */
    static String tzdata() {
        return ZoneRulesProvider.getVersions("Europe/Paris").lastEntry().getKey();
    }
}
