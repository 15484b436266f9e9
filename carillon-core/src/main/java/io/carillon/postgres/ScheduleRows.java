package io.carillon.postgres;

import io.carillon.schedule.Adaptive;
import io.carillon.schedule.CronExpression;
import io.carillon.schedule.Definition;
import io.carillon.schedule.DstPolicy;
import io.carillon.schedule.Interval;
import io.carillon.schedule.Missed;
import io.carillon.schedule.Overlap;
import io.carillon.schedule.Policies;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.ScheduleId;
import io.carillon.schedule.When;
import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import io.carillon.value.Text;
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

/** Schedules on their way into rows and back. */
final class ScheduleRows {
    static final String COLUMNS = """
            s.project, s.id, s.name, s.version, s.kind, s.expression, s.zone, s.anchor, s.gap, s.repeat, s.starts_at, s.ends_at,
            s.excluded::text[] AS excluded, s.max_runs, s.missed_cap, extract(epoch FROM s.missed_spread) AS missed_spread, s.pause_after,
            extract(epoch FROM s.jitter) AS jitter, s.queue, s.class, s.target, s.target_name, s.payload, s.codec, s.missed,
            extract(epoch FROM s.grace) AS grace, extract(epoch FROM s.catch_up) AS catch_up, s.overlap,
            extract(epoch FROM s.adaptive_min) AS adaptive_min, extract(epoch FROM s.adaptive_max) AS adaptive_max, s.cursor, s.next_at, s.ticks, s.paused_at, s.paused_by, s.paused_reason, s.paused_until,
            s.created_at, s.updated_at
            """;

    private static final Logger log = LoggerFactory.getLogger(ScheduleRows.class);

    private ScheduleRows() {}

    /** The words of a definition that another version may write in another way. */
    private static final List<String> WORDS =
            List.of("kind", "expression", "zone", "gap", "repeat", "missed", "overlap");

    /** Reads a schedule; one whose definition cannot be read is marked so, see {@link Schedule#unreadable}. */
    static Schedule readOrMark(Row row) throws SQLException {
        try {
            return read(row);
        } catch (RuntimeException failure) {
            Map<String, String> stored = new LinkedHashMap<>();
            for (String word : WORDS) stored.put(word, row.text(word));
            String error = Text.clean(String.valueOf(failure.getMessage()), 1_000);
            When when = new When(
                    new When.Timing.Unreadable(stored, error),
                    known(() -> dst(row), DstPolicy.defaults()),
                    bounds(row),
                    row.seconds("jitter"));
            Policies defaults = Policies.defaults();
            return read(
                    row,
                    when,
                    policies(
                            row,
                            known(() -> Missed.of(row.text("missed")), defaults.missed()),
                            known(() -> Overlap.of(row.text("overlap")), defaults.overlap())));
        }
    }

    /** Reads words of a row. */
    private interface Words<T> {
        T read() throws SQLException;
    }

    private static <T> T known(Words<T> words, T otherwise) throws SQLException {
        try {
            return words.read();
        } catch (RuntimeException unknown) {
            return otherwise;
        }
    }

    static CarillonException unknown(String name) {
        return new CarillonException(
                ErrorCode.UNKNOWN_SCHEDULE,
                "There is no schedule '%s'. schedules().list() names those there are.".formatted(name));
    }

    /** The schedule, if its definition can be read. */
    static Schedule readable(Schedule schedule) {
        When.Timing.Unreadable unreadable = schedule.unreadable();
        if (unreadable == null) return schedule;
        throw new CarillonException(
                ErrorCode.SCHEDULE_UNREADABLE,
                "Schedule '%s' cannot be read by this version: %s. Replace it or delete it."
                        .formatted(schedule.name(), unreadable.error()));
    }

    static Schedule read(Row row) throws SQLException {
        return read(row, when(row), policies(row, Missed.of(row.text("missed")), Overlap.of(row.text("overlap"))));
    }

    private static Policies policies(Row row, Missed missed, Overlap overlap) throws SQLException {
        return new Policies(
                missed,
                row.seconds("grace"),
                row.seconds("catch_up"),
                new Policies.RunAll(row.integer("missed_cap"), row.seconds("missed_spread")),
                overlap,
                row.maybeInteger("pause_after"));
    }

    private static Schedule read(Row row, When when, Policies policies) throws SQLException {
        Definition.What what = new Definition.What(
                row.text("queue"),
                row.integer("class"),
                row.text("target"),
                row.text("target_name"),
                row.bytes("payload"),
                row.text("codec"));
        Definition definition = new Definition(row.text("project"), row.text("name"), when, what, policies);
        return new Schedule(
                new ScheduleId(row.uuid("id")),
                row.number("version"),
                definition,
                new Schedule.Progress(row.instant("cursor"), row.instant("next_at"), row.number("ticks")),
                pause(row),
                new Schedule.Facts(row.instant("created_at"), row.instant("updated_at"), null));
    }

    /**
     * Schedules that this process cannot read or change, such as those of a newer version or of a time zone that its rules do not know. One costs only itself:
     * it is left out for a while, logged, and named by the health check.
     */
    static final class Unreadable {
        private static final int MOST = 10_000;
        private static final long PAUSE = Duration.ofSeconds(30).toNanos();
        private static final long SILENCE = Duration.ofMinutes(10).toNanos();

        private record Note(String schedule, String error, long tried, long logged) {}

        private final Map<UUID, Note> notes = new ConcurrentHashMap<>();

        /** The schedule of a row, or nothing where it cannot be read. */
        Optional<Schedule> read(Row row) throws SQLException {
            try {
                Schedule schedule = ScheduleRows.read(row);
                if (!notes.isEmpty()) notes.remove(schedule.id().value());
                return Optional.of(schedule);
            } catch (RuntimeException failure) {
                add(row.uuid("id"), row.text("project") + "/" + row.text("name"), String.valueOf(failure.getMessage()));
                return Optional.empty();
            }
        }

        /** Asks for so many rows behind a name. */
        @FunctionalInterface
        interface Rest {
            Query behind(String name, int count) throws SQLException;
        }

        /** The schedule of a row, marked where its definition cannot be read; nothing where not even its name can. */
        private Optional<Schedule> shown(Row row) throws SQLException {
            try {
                return Optional.of(readOrMark(row));
            } catch (RuntimeException failure) {
                return read(row);
            }
        }

        /** Up to so many schedules: those that cannot be shown do not end a page early. */
        List<Schedule> page(int limit, String after, Rest rest) throws SQLException {
            List<Schedule> found = new ArrayList<>();
            String behind = after;
            while (found.size() < limit) {
                int missing = limit - found.size();
                List<String> names = new ArrayList<>();
                List<Optional<Schedule>> part = rest.behind(behind, missing).list(row -> {
                    names.add(row.text("name"));
                    return shown(row);
                });
                part.forEach(one -> one.ifPresent(found::add));
                if (names.size() < missing) break;
                behind = names.get(names.size() - 1);
            }
            return found;
        }

        /** The schedules of all rows that can be read. */
        List<Schedule> list(Query query) throws SQLException {
            return query.list(this::read).stream().flatMap(Optional::stream).toList();
        }

        void add(UUID id, String schedule, String error) {
            Note before = notes.get(id);
            long now = System.nanoTime();
            if (before == null && notes.size() >= MOST) return;
            long logged = before != null && now - before.logged < SILENCE ? before.logged : now;
            notes.put(id, new Note(schedule, error, now, logged));
            if (logged == now)
                log.warn("schedule cannot be planned by this node schedule={} error={}", schedule, error);
        }

        /** Those to leave out: each is tried again after half a minute. */
        Set<UUID> ids() {
            long now = System.nanoTime();
            notes.values().removeIf(note -> now - note.tried > SILENCE);
            return notes.entrySet().stream()
                    .filter(note -> now - note.getValue().tried < PAUSE)
                    .map(Map.Entry::getKey)
                    .collect(Collectors.toUnmodifiableSet());
        }

        /** By project and name, with the error. */
        Map<String, String> named() {
            Map<String, String> named = new TreeMap<>();
            notes.values().forEach(note -> named.put(note.schedule, note.error));
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

    private static @Nullable Adaptive adaptive(Row row) throws SQLException {
        Duration min = row.maybeSeconds("adaptive_min");
        return min == null ? null : new Adaptive(min, row.seconds("adaptive_max"));
    }

    /** The definition as it will be read back: PostgreSQL keeps microseconds. */
    static Definition asStored(Definition definition) {
        When when = definition.when();
        When.Bounds bounds = new When.Bounds(
                rounded(when.bounds().from()),
                rounded(when.bounds().until()),
                when.bounds().excluded(),
                when.bounds().maxRuns());
        return new Definition(
                definition.project(),
                definition.name(),
                new When(asStored(when.timing()), when.dst(), bounds, when.jitter()),
                definition.what(),
                definition.policies());
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

    /** Binds the definition's columns. */
    static Query bind(Query query, Definition definition) throws SQLException {
        When when = definition.when();
        Definition.What what = definition.what();
        Adaptive adaptive = when.adaptive();
        return timing(query, when)
                .seconds("adaptiveMin", adaptive == null ? null : adaptive.min())
                .seconds("adaptiveMax", adaptive == null ? null : adaptive.max())
                .text("project", definition.project())
                .text("name", definition.name())
                .text("zone", when.zone().getId())
                .text("gap", lower(when.dst().gap().name()))
                .text("repeat", lower(when.dst().repeat().name()))
                .instant("startsAt", when.bounds().from())
                .instant("endsAt", when.bounds().until())
                .texts(
                        "excluded",
                        when.bounds().excluded().stream()
                                .sorted()
                                .map(LocalDate::toString)
                                .toList())
                .number("maxRuns", when.bounds().maxRuns())
                .seconds("jitter", when.jitter())
                .text("queue", what.queue())
                .number("class", what.priority())
                .text("target", what.target())
                .text("targetName", what.targetName())
                .bytes("payload", what.payload())
                .text("codec", what.codec())
                .text("missed", definition.policies().missed().text())
                .seconds("grace", definition.policies().grace())
                .seconds("catchUp", definition.policies().catchUp())
                .number("missedCap", definition.policies().runAll().cap())
                .seconds("missedSpread", definition.policies().runAll().spread())
                .number("pauseAfter", definition.policies().pauseAfter())
                .text("overlap", definition.policies().overlap().text());
    }

    private static Query timing(Query query, When when) throws SQLException {
        if (when.timing() instanceof When.Timing.Cron cron)
            return query.text("kind", "cron")
                    .text("expression", cron.expression().toString())
                    .instant("anchor", null);
        if (when.timing() instanceof When.Timing.Every every) {
            Interval interval = every.interval();
            return query.text("kind", "interval")
                    .text(
                            "expression",
                            interval.amount() + " " + lower(interval.unit().name()))
                    .instant("anchor", interval.start().toInstant());
        }
        When.Timing.Once once = (When.Timing.Once) when.timing();
        return query.text("kind", "once").text("expression", "").instant("anchor", once.at());
    }

    private static String upper(String text) {
        return text.toUpperCase(Locale.ROOT).replace('-', '_');
    }

    private static String lower(String text) {
        return text.toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** The version of the time zone rules this process plans with. */
    static String tzdata() {
        return ZoneRulesProvider.getVersions("Europe/Paris").lastEntry().getKey();
    }
}
