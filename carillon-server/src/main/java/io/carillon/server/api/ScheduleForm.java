package io.carillon.server.api;

import io.carillon.ScheduleOptions;
import io.carillon.run.Payload;
import io.carillon.run.Priority;
import io.carillon.schedule.DstPolicy;
import io.carillon.schedule.Missed;
import io.carillon.schedule.Overlap;
import io.carillon.schedule.When;
import io.carillon.server.http.Fields;
import io.carillon.server.http.Json;
import io.carillon.server.http.Problem;
import io.carillon.value.Names;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;

/** Reads what a caller says about a schedule, a target or a payload. */
final class ScheduleForm {
    private static final Set<String> UNITS = Set.of("seconds", "minutes", "hours", "days", "weeks", "months", "years");
    private static final Payload NOTHING = new Payload("{}".getBytes(StandardCharsets.UTF_8), "json");

    private ScheduleForm() {}

    static When when(Fields body) {
        Fields form = body.required("when", body.object("when"));
        When when = timing(body, form);
        for (String name : List.of("from", "until")) {
            Optional<Instant> bound = form.instant(name);
            When so = when;
            if (bound.isPresent())
                when = form.making(name, () -> name.equals("from") ? so.from(bound.get()) : so.until(bound.get()));
        }
        When bounded = when;
        Optional<List<String>> except = form.texts("except");
        if (except.isPresent()) when = form.making("except", () -> bounded.except(dates(except.get())));
        When excepted = when;
        Optional<Long> runs = form.number("maxRuns");
        if (runs.isPresent()) when = form.making("maxRuns", () -> excepted.maxRuns(runs.get()));
        When counted = when;
        Optional<Duration> jitter = form.duration("jitter");
        if (jitter.isPresent()) when = form.making("jitter", () -> counted.jitter(jitter.get()));
        DstPolicy dst = DstPolicy.defaults();
        when = when.dst(new DstPolicy(
                form.word("gap", DstPolicy.Gap.class).orElse(dst.gap()),
                form.word("repeat", DstPolicy.Repeat.class).orElse(dst.repeat())));
        form.done();
        return when;
    }

    /** Exactly one of cron, every, once and adaptive. */
    private static When timing(Fields body, Fields form) {
        Optional<String> zone = form.text("zone");
        Optional<String> cron = form.text("cron");
        Optional<Fields> every = form.object("every");
        Optional<Instant> once = form.instant("once");
        Optional<Fields> adaptive = form.object("adaptive");
        long given = List.of(cron, every, once, adaptive).stream()
                .filter(Optional::isPresent)
                .count();
        if (given != 1) throw Problem.invalid("/when", "Give exactly one of cron, every, once and adaptive.");
        ZoneId in = zone.isPresent() ? form.making("zone", () -> When.zone(zone.get())) : ZoneOffset.UTC;
        if (cron.isPresent())
            return form.making("cron", () -> When.cron(cron.get(), zone.isPresent() ? in : ZoneId.of("UTC")));
        if (once.isPresent()) return form.making("once", () -> When.once(once.get()));
        if (adaptive.isPresent()) {
            Fields bounds = adaptive.get();
            Duration min = bounds.required("min", bounds.duration("min"));
            Duration max = bounds.required("max", bounds.duration("max"));
            bounds.done();
            return form.making("adaptive", () -> When.adaptive(min, max));
        }
        return interval(form, body.required("when", every), in);
    }

    private static When interval(Fields form, Fields every, ZoneId zone) {
        long amount = every.required("amount", every.number("amount"));
        String unit = every.required("unit", every.text("unit"));
        if (!UNITS.contains(unit)) throw Problem.invalid("/when/every/unit", "This must be one of " + UNITS + ".");
        Instant start = every.instant("start").orElse(Instant.EPOCH);
        every.done();
        return form.making(
                "every",
                () -> When.every(amount, ChronoUnit.valueOf(unit.toUpperCase(Locale.ROOT)), start.atZone(zone)));
    }

    private static List<LocalDate> dates(List<String> texts) {
        try {
            return texts.stream().map(LocalDate::parse).toList();
        } catch (DateTimeException wrong) {
            throw Problem.invalid("/when/except", "These must be dates such as 2026-12-25.");
        }
    }

    /** What is to be done: a handler by its name, or a URL to call. */
    static Wanted target(Fields body) {
        Fields form = body.required("target", body.object("target"));
        if (form.has("url")) return Wanted.webhook(WebhookForm.read(form));
        String handler = form.required("handler", form.text("handler"));
        form.done();
        return form.making("handler", () -> Wanted.handler(Names.check("handler", handler)));
    }

    static Payload payload(Fields body) {
        return body.any("payload")
                .map(node -> new Payload(Json.bytes(node), "json"))
                .orElse(NOTHING);
    }

    /** The policies and where the runs go. */
    static UnaryOperator<ScheduleOptions> options(Fields body) {
        Optional<Missed> missed = body.word("missed", Missed.class);
        Optional<Overlap> overlap = body.word("overlap", Overlap.class);
        Optional<Priority> priority = body.word("priority", Priority.class);
        Optional<String> queue = body.text("queue");
        Optional<Duration> grace = body.duration("grace");
        Optional<Duration> catchUp = body.duration("catchUp");
        Optional<Integer> cap = body.integer("missedCap");
        Optional<Duration> spread = body.duration("missedSpread");
        Optional<Integer> pauseAfter = body.integer("pauseAfter");
        return defaults -> {
            ScheduleOptions chosen = defaults;
            if (missed.isPresent()) chosen = chosen.missed(missed.get());
            if (overlap.isPresent()) chosen = chosen.overlap(overlap.get());
            if (priority.isPresent()) chosen = chosen.priority(priority.get());
            chosen = applied(body, "queue", chosen, queue, ScheduleOptions::queue);
            chosen = applied(body, "grace", chosen, grace, ScheduleOptions::grace);
            chosen = applied(body, "catchUp", chosen, catchUp, ScheduleOptions::catchUp);
            chosen = applied(body, "missedCap", chosen, cap, ScheduleOptions::missedCap);
            chosen = applied(body, "missedSpread", chosen, spread, ScheduleOptions::missedSpread);
            return applied(body, "pauseAfter", chosen, pauseAfter, ScheduleOptions::pauseAfter);
        };
    }

    private interface Change<T> {
        ScheduleOptions of(ScheduleOptions before, T value);
    }

    private static <T> ScheduleOptions applied(
            Fields body, String name, ScheduleOptions before, Optional<T> value, Change<T> change) {
        return value.isEmpty() ? before : body.making(name, () -> change.of(before, value.get()));
    }
}
