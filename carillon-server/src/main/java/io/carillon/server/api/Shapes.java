package io.carillon.server.api;

import io.carillon.run.Payload;
import io.carillon.run.Priority;
import io.carillon.run.Run;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.schedule.Definition;
import io.carillon.schedule.Policies;
import io.carillon.schedule.Preview;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.ScheduleId;
import io.carillon.schedule.When;
import io.carillon.server.http.Doc;
import io.carillon.server.http.Fields;
import io.carillon.server.http.Json;
import io.carillon.server.store.ApiKey;
import io.carillon.server.store.SecretRepository;
import io.carillon.store.AttemptRecord;
import io.carillon.store.LaneInfo;
import io.carillon.store.LedgerEntry;
import io.carillon.value.PublicId;
import io.carillon.webhook.Delivery;
import io.carillon.webhook.WebhookTarget;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** How things look on the wire. */
final class Shapes {
    private static final int NEXT_RUNS = 5;

    private Shapes() {}

    /** A schedule as it stands at this time of the database. */
    static Doc schedule(Schedule schedule, Instant now) {
        Definition definition = schedule.definition();
        Definition.What what = definition.what();
        Policies policies = definition.policies();
        When.Timing.Unreadable unreadable = schedule.unreadable();
        Instant next = schedule.progress().nextAt();
        Schedule.Pause pause = schedule.pause();
        Payload payload = new Payload(what.payload(), what.codec());
        Optional<WebhookTarget> webhook = WebhookForm.isOne(what.target(), what.targetName())
                ? WebhookForm.stored(payload.bytes())
                : Optional.empty();
        Doc doc = new Doc()
                .put("name", schedule.name())
                .put("id", schedule.id().toString())
                .put("version", schedule.version())
                .put("when", when(definition.when()))
                .put("description", definition.when().describe())
                .put("unreadable", unreadable == null ? null : unreadable(unreadable))
                .put(
                        "target",
                        webhook.map(WebhookForm::shown).orElseGet(() -> target(what.target(), what.targetName())))
                .put("payload", webhook.isPresent() ? null : payload(payload))
                .put("queue", what.queue())
                .put("priority", Fields.wordOf(Priority.of(what.priority())));
        return doc.put("missed", known(unreadable, "missed", policies.missed().text()))
                .put("overlap", known(unreadable, "overlap", policies.overlap().text()))
                .put("grace", policies.grace())
                .put("catchUp", policies.catchUp())
                .put("missedCap", policies.runAll().cap())
                .put("missedSpread", policies.runAll().spread())
                .put("pauseAfter", policies.pauseAfter())
                .put("ticks", schedule.progress().ticks())
                .put("plannedUntil", schedule.progress().cursor())
                .put("nextAfterPlanned", next.equals(Instant.MAX) ? null : next)
                .put("nextRuns", pause == null ? next(definition.when(), schedule.runsLeft(), now) : List.of())
                .put("lastRun", lastRun(schedule.facts().lastRun()))
                .put("createdAt", schedule.facts().createdAt())
                .put("updatedAt", schedule.facts().updatedAt())
                .put("paused", pause == null ? null : pause(pause));
    }

    /** The word of a policy, unless another one is stored that this version does not know. */
    private static @Nullable String known(When.Timing.@Nullable Unreadable unreadable, String name, String word) {
        return unreadable == null || word.equals(unreadable.stored().get(name)) ? word : null;
    }

    private static Doc unreadable(When.Timing.Unreadable unreadable) {
        Doc stored = new Doc();
        unreadable.stored().forEach(stored::put);
        return new Doc().put("error", unreadable.error()).put("stored", stored);
    }

    private static @Nullable Doc lastRun(Schedule.@Nullable LastRun last) {
        if (last == null) return null;
        return new Doc()
                .put("run", new RunId(last.run()).toString())
                .put("state", last.state())
                .put("plannedAt", last.plannedAt())
                .put("startedAt", last.startedAt())
                .put("endedAt", last.endedAt());
    }

    private static List<String> next(When when, long left, Instant now) {
        return when.preview(now, NEXT_RUNS).entries().stream()
                .filter(Preview.Entry::runs)
                .limit(Math.max(left, 1))
                .map(entry -> entry.utc().toString())
                .toList();
    }

    private static Doc pause(Schedule.Pause pause) {
        return new Doc()
                .put("at", pause.at())
                .put("by", pause.by())
                .put("reason", pause.reason())
                .put("until", pause.until());
    }

    static Doc when(When when) {
        Doc doc = new Doc();
        if (when.timing() instanceof When.Timing.Cron cron)
            doc.put("cron", cron.expression().toString())
                    .put("zone", cron.zone().getId());
        if (when.timing() instanceof When.Timing.Once once) doc.put("once", once.at());
        if (when.timing() instanceof When.Timing.Every every) {
            if (every.adaptive() != null)
                doc.put(
                        "adaptive",
                        new Doc()
                                .put("min", every.adaptive().min())
                                .put("max", every.adaptive().max()));
            else
                doc.put(
                                "every",
                                new Doc()
                                        .put("amount", every.interval().amount())
                                        .put(
                                                "unit",
                                                every.interval().unit().name().toLowerCase(Locale.ROOT))
                                        .put("start", every.interval().start().toInstant()))
                        .put("zone", every.interval().start().getZone().getId());
        }
        When.Bounds bounds = when.bounds();
        return doc.put("from", bounds.from())
                .put("until", bounds.until())
                .put(
                        "except",
                        bounds.excluded().isEmpty()
                                ? null
                                : bounds.excluded().stream()
                                        .sorted()
                                        .map(Object::toString)
                                        .toList())
                .put("maxRuns", bounds.maxRuns())
                .put("jitter", when.jitter().equals(Duration.ZERO) ? null : when.jitter())
                .put("gap", Fields.wordOf(when.dst().gap()))
                .put("repeat", Fields.wordOf(when.dst().repeat()));
    }

    static Doc preview(Preview preview) {
        return new Doc()
                .put("description", preview.description())
                .put("zone", preview.zone().getId())
                .put("entries", preview.entries().stream().map(Shapes::instant).toList())
                .put("warnings", warnings(preview.warnings()));
    }

    /** Missing where there is none. */
    static @Nullable List<String> warnings(List<String> warnings) {
        return warnings.isEmpty() ? null : warnings;
    }

    static Doc instant(Preview.Entry entry) {
        return new Doc()
                .put("at", entry.utc())
                .put("local", entry.at().toString())
                .put("planned", entry.planned().toString())
                .put("mark", Fields.wordOf(entry.mark()));
    }

    static Doc target(String kind, String name) {
        return new Doc().put(kind, name);
    }

    /** JSON as JSON; what another codec wrote is only counted. */
    static @Nullable Object payload(@Nullable Payload payload) {
        if (payload == null) return null;
        if (payload.codec().equals("json")) return Json.stored(payload.bytes()).orElse(null);
        return new Doc().put("codec", payload.codec()).put("bytes", payload.bytes().length);
    }

    static Doc run(Run run) {
        Run.Instants instants = run.instants();
        Run.Details details = run.details();
        Doc delivery = delivery(details.delivery(), details.log());
        boolean logged = delivery != null && details.delivery() == null;
        return new Doc()
                .put("id", run.id().toString())
                .put("state", run.state().text())
                .put("queue", run.lane().queue())
                .put("priority", Fields.wordOf(run.priority()))
                .put("origin", run.origin().text())
                .put("target", target(run.target().kind(), run.target().name()))
                .put("attempt", run.attempt())
                .put("failures", run.failures())
                .put("crashes", run.crashes())
                .put("createdAt", instants.createdAt())
                .put("dueAt", instants.dueAt())
                .put("plannedAt", instants.plannedAt())
                .put("startedAt", instants.startedAt())
                .put("endedAt", instants.endedAt())
                .put("late", run.lateness().orElse(null))
                .put("schedule", details.schedule() == null ? null : new ScheduleId(details.schedule()).toString())
                .put(
                        "parent",
                        details.parent() == null ? null : details.parent().toString())
                .put("key", details.key())
                .put("parked", details.parked())
                .put("reason", details.reason())
                .put("result", payload(details.result()))
                .put("log", logged ? null : details.log())
                .put("delivery", delivery)
                .put(
                        "progress",
                        details.progress() == null
                                ? null
                                : new Doc()
                                        .put("done", details.progress().done())
                                        .put("total", details.progress().total()));
    }

    static Doc attempt(AttemptRecord attempt) {
        return new Doc()
                .put("attempt", attempt.attempt())
                .put("node", PublicId.format("nod", attempt.node()))
                .put("startedAt", attempt.startedAt())
                .put("endedAt", attempt.endedAt())
                .put("outcome", attempt.outcome())
                .put("error", attempt.error())
                .put("pause", attempt.pause())
                .put("delivery", delivery(attempt.delivery(), attempt.log()));
    }

    /** Runs that ended before deliveries had a place of their own told of them in their log. */
    private static @Nullable Doc delivery(@Nullable String kept, @Nullable String log) {
        return Delivery.in(kept)
                .or(() -> Delivery.in(log))
                .map(Shapes::delivery)
                .orElse(null);
    }

    /** What a receiver answered, as much of it as is kept. */
    static Doc delivery(Delivery delivery) {
        return new Doc()
                .put("verdict", Fields.wordOf(delivery.verdict()))
                .put("status", delivery.status() == 0 ? null : delivery.status())
                .put("headers", delivery.headers().isEmpty() ? null : delivery.headers())
                .put("body", delivery.body().isEmpty() ? null : delivery.body())
                .put("note", delivery.note().isEmpty() ? null : delivery.note())
                .put("millis", delivery.millis())
                .put("pause", delivery.pause());
    }

    static Doc entry(LedgerEntry entry) {
        return new Doc()
                .put("from", entry.from())
                .put("to", entry.to())
                .put("count", entry.count())
                .put("state", entry.state())
                .put("reason", entry.reason())
                .put("run", entry.run() == null ? null : entry.run().toString())
                .put("startedAt", entry.startedAt())
                .put("late", entry.lateness().orElse(null));
    }

    static Doc queue(LaneInfo lane) {
        LaneInfo.Pause pause = lane.pause();
        LaneInfo.Breaker breaker = lane.breaker();
        return new Doc()
                .put("name", lane.lane().queue())
                .put("waiting", lane.waiting())
                .put("running", lane.running())
                .put("maxRunning", lane.limits().running())
                .put("perSecond", lane.limits().perSecond())
                .put("weight", lane.weight())
                .put(
                        "breaker",
                        breaker == null
                                ? null
                                : new Doc().put("state", breaker.state()).put("until", breaker.until()))
                .put(
                        "paused",
                        pause == null
                                ? null
                                : new Doc()
                                        .put("at", pause.at())
                                        .put("by", pause.by())
                                        .put("reason", pause.reason()));
    }

    static Doc key(ApiKey key) {
        return new Doc()
                .put("id", key.id())
                .put("name", key.name())
                .put("scopes", key.scopes())
                .put("bootstrap", key.bootstrap())
                .put("createdAt", key.made().at())
                .put("createdBy", key.made().by())
                .put("expiresAt", key.expiresAt())
                .put("revokedAt", key.revokedAt())
                .put("usedAt", key.usedAt());
    }

    /** Neither the secret nor a part of it. */
    static Doc secret(SecretRepository.Kept secret) {
        return new Doc()
                .put("name", secret.name())
                .put("kind", secret.signing() ? "signing" : "value")
                .put("value", "set")
                .put("createdAt", secret.made().at())
                .put("createdBy", secret.made().by())
                .put("rotatedAt", secret.rotatedAt())
                .put("previousUntil", secret.previousUntil());
    }

    static List<String> states() {
        return java.util.Arrays.stream(RunState.values()).map(RunState::text).toList();
    }
}
