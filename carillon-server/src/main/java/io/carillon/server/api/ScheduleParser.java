package io.carillon.server.api;

import io.carillon.internal.value.Names;
import io.carillon.run.Payload;
import io.carillon.run.Priority;
import io.carillon.run.Run;
import io.carillon.schedule.DstPolicy;
import io.carillon.schedule.MissedPolicy;
import io.carillon.schedule.OverlapPolicy;
import io.carillon.schedule.ScheduleOptions;
import io.carillon.schedule.When;
import io.carillon.server.endpoint.RetryJson;
import io.carillon.server.endpoint.WebhookTargetJson;
import io.carillon.server.event.EventTarget;
import io.carillon.server.http.Json;
import io.carillon.server.http.JsonFields;
import io.carillon.server.http.Problem;
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

/** Parses schedules, targets and payloads of requests. */
final class ScheduleParser {
    private static final Set<String> UNITS = Set.of("seconds", "minutes", "hours", "days", "weeks", "months", "years");
    private static final Payload EMPTY_PAYLOAD = new Payload("{}".getBytes(StandardCharsets.UTF_8), "json");

    private ScheduleParser() {}

    static When when(JsonFields body) {
        JsonFields fields = body.required("when", body.object("when"));
        When when = timing(body, fields);
        for (String name : List.of("from", "until")) {
            Optional<Instant> bound = fields.instant(name);
            When so = when;
            if (bound.isPresent())
                when = fields.convert(name, () -> name.equals("from") ? so.from(bound.get()) : so.until(bound.get()));
        }
        When bounded = when;
        Optional<List<String>> except = fields.texts("except");
        if (except.isPresent()) when = fields.convert("except", () -> bounded.except(dates(except.get())));
        When excepted = when;
        Optional<Long> runs = fields.number("maxRuns");
        if (runs.isPresent()) when = fields.convert("maxRuns", () -> excepted.maxRuns(runs.get()));
        When counted = when;
        Optional<Duration> jitter = fields.duration("jitter");
        if (jitter.isPresent()) when = fields.convert("jitter", () -> counted.jitter(jitter.get()));
        DstPolicy dst = DstPolicy.defaults();
        when = when.dst(new DstPolicy(
                fields.enumValue("gap", DstPolicy.Gap.class).orElse(dst.gap()),
                fields.enumValue("repeat", DstPolicy.Repeat.class).orElse(dst.repeat())));
        fields.refuseUnknown();
        return when;
    }

    private static When timing(JsonFields body, JsonFields fields) {
        Optional<String> zone = fields.text("zone");
        Optional<String> cron = fields.text("cron");
        Optional<JsonFields> every = fields.object("every");
        Optional<Instant> once = fields.instant("once");
        Optional<JsonFields> adaptive = fields.object("adaptive");
        long given = List.of(cron, every, once, adaptive).stream()
                .filter(Optional::isPresent)
                .count();
        if (given != 1) throw Problem.invalid("/when", "Exactly one of cron, every, once and adaptive is required.");
        ZoneId in = zone.isPresent() ? fields.convert("zone", () -> When.zone(zone.get())) : ZoneOffset.UTC;
        if (cron.isPresent())
            return fields.convert("cron", () -> When.cron(cron.get(), zone.isPresent() ? in : ZoneId.of("UTC")));
        if (once.isPresent()) return fields.convert("once", () -> When.once(once.get()));
        if (adaptive.isPresent()) {
            JsonFields bounds = adaptive.get();
            Duration min = bounds.required("min", bounds.duration("min"));
            Duration max = bounds.required("max", bounds.duration("max"));
            bounds.refuseUnknown();
            return fields.convert("adaptive", () -> When.adaptive(min, max));
        }
        // Responses name the default zone of intervals so, and a schedule that is sent back has not changed.
        return interval(fields, body.required("when", every), in.getId().equals("UTC") ? ZoneOffset.UTC : in);
    }

    private static When interval(JsonFields fields, JsonFields every, ZoneId zone) {
        long amount = every.required("amount", every.number("amount"));
        String unit = every.required("unit", every.text("unit"));
        if (!UNITS.contains(unit)) throw Problem.invalid("/when/every/unit", "This must be one of " + UNITS + ".");
        Instant start = every.instant("start").orElse(Instant.EPOCH);
        every.refuseUnknown();
        return fields.convert(
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

    /** Parses the target: a handler by its name, a webhook by its endpoint or URL, or an event. */
    static TargetRequest target(JsonFields body) {
        JsonFields fields = body.required("target", body.object("target"));
        boolean webhook = fields.has("url") || fields.has("endpoint");
        Optional<JsonFields> event = fields.object("event");
        if (event.isPresent()) {
            if (webhook || fields.has("handler"))
                throw Problem.invalid("/target/event", "A target has either an event, a handler or a webhook.");
            EventTarget published = EventTarget.read(event.get());
            fields.refuseUnknown();
            return TargetRequest.event(published);
        }
        if (webhook && fields.has("handler"))
            throw Problem.invalid(
                    "/target/handler",
                    "A target has either a handler, or the endpoint or url of a webhook. Leave one of them out.");
        if (webhook) return TargetRequest.webhook(WebhookTargetJson.read(fields));
        String handler = fields.required("handler", fields.text("handler"));
        WebhookTargetJson.refuseBesideHandler(fields);
        fields.refuseUnknown();
        return fields.convert("handler", () -> TargetRequest.handler(Names.check("handler", handler)));
    }

    static Payload payload(JsonFields body) {
        return body.jsonValue("payload")
                .map(node -> new Payload(Json.bytes(node), "json"))
                .orElse(EMPTY_PAYLOAD);
    }

    /** Parses the policies of a schedule, and the queue, priority, retries and timeout of its runs. */
    static ScheduleOptions options(JsonFields body) {
        Optional<MissedPolicy> missed = body.enumValue("missed", MissedPolicy.class);
        Optional<OverlapPolicy> overlap = body.enumValue("overlap", OverlapPolicy.class);
        Optional<Priority> priority = body.enumValue("priority", Priority.class);
        Optional<String> queue = body.text("queue");
        Optional<Duration> grace = body.duration("grace");
        Optional<Duration> catchUp = body.duration("catchUp");
        Optional<Integer> cap = body.integer("missedCap");
        Optional<Duration> spread = body.duration("missedSpread");
        Optional<Integer> pauseAfter = body.integer("pauseAfter");
        ScheduleOptions chosen = ScheduleOptions.defaults();
        if (missed.isPresent()) chosen = chosen.missed(missed.get());
        if (overlap.isPresent()) chosen = chosen.overlap(overlap.get());
        if (priority.isPresent()) chosen = chosen.priority(priority.get());
        chosen = applyOption(body, "queue", chosen, queue, ScheduleOptions::queue);
        chosen = applyOption(body, "grace", chosen, grace, ScheduleOptions::grace);
        chosen = applyOption(body, "catchUp", chosen, catchUp, ScheduleOptions::catchUp);
        chosen = applyOption(body, "missedCap", chosen, cap, ScheduleOptions::missedCap);
        chosen = applyOption(body, "missedSpread", chosen, spread, ScheduleOptions::missedSpread);
        chosen = applyOption(body, "pauseAfter", chosen, pauseAfter, ScheduleOptions::pauseAfter);
        Run.Policy policy = RetryJson.readPolicy(body);
        chosen = applyOption(body, "retry", chosen, Optional.ofNullable(policy.retry()), ScheduleOptions::retry);
        return applyOption(body, "timeout", chosen, Optional.ofNullable(policy.timeout()), ScheduleOptions::timeout);
    }

    private interface ScheduleOptionSetter<T> {
        ScheduleOptions apply(ScheduleOptions before, T value);
    }

    private static <T> ScheduleOptions applyOption(
            JsonFields body,
            String name,
            ScheduleOptions before,
            Optional<T> value,
            ScheduleOptionSetter<T> scheduleOptionSetter) {
        return value.isEmpty() ? before : body.convert(name, () -> scheduleOptionSetter.apply(before, value.get()));
    }
}
