package io.carillon.server.api;

import io.carillon.run.Payload;
import io.carillon.schedule.DroppedHistory;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.When;
import io.carillon.server.http.Answer;
import io.carillon.server.http.Call;
import io.carillon.server.http.Doc;
import io.carillon.server.http.Fields;
import io.carillon.server.http.Permission;
import io.carillon.server.http.Problem;
import io.carillon.server.http.Route;
import io.carillon.server.http.Versions;
import io.carillon.store.LedgerEntry;
import io.carillon.store.ScheduleChange;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** Schedules: create or change by name, look, pause, resume, trigger, backfill, preview and ledger. */
final class ScheduleRoutes {
    private static final Duration LEDGER = Duration.ofDays(1);

    private final Deeds deeds;
    private final Quotas quotas;

    ScheduleRoutes(Deeds deeds, Quotas quotas) {
        this.deeds = deeds;
        this.quotas = quotas;
    }

    List<Route> routes() {
        return List.of(
                Route.get("/v1/schedules", Permission.READ, this::list).with("limit", "cursor"),
                Route.post("/v1/schedules:preview", Permission.READ, this::preview),
                Route.get("/v1/schedules/{name}", Permission.READ, this::get),
                Route.put("/v1/schedules/{name}", Permission.MANAGE, this::put),
                Route.delete("/v1/schedules/{name}", Permission.MANAGE, this::delete),
                Route.post("/v1/schedules/{name}/pause", Permission.MANAGE, this::pause),
                Route.post("/v1/schedules/{name}/resume", Permission.MANAGE, this::resume),
                Route.post("/v1/schedules/{name}/trigger", Permission.MANAGE, this::trigger),
                Route.post("/v1/schedules/{name}/backfill", Permission.MANAGE, this::backfill),
                Route.get("/v1/schedules/{name}/ledger", Permission.READ, this::ledger)
                        .with("from", "to"));
    }

    private Answer list(Call call) {
        int limit = call.limit();
        String after = deeds.cursor(call).orElse("");
        List<Schedule> found =
                deeds.read(call, desk -> desk.project().schedules().list(after, limit + 1));
        return deeds.page(call, found, limit, schedule -> Shapes.schedule(schedule, deeds.now()), Schedule::name);
    }

    private Answer get(Call call) {
        return shown(deeds.read(call, desk -> there(desk, call)));
    }

    private Answer shown(Schedule schedule) {
        return Answer.ok(Shapes.schedule(schedule, deeds.now())).version(schedule.version());
    }

    private static Schedule there(Deeds.Desk desk, Call call) {
        return desk.project().schedules().get(call.name("name")).orElseThrow(() -> Problem.missing("schedule"));
    }

    private Answer put(Call call) {
        Fields body = call.fields();
        When when = ScheduleForm.when(body);
        Wanted wanted = ScheduleForm.target(body);
        Payload payload = wanted.payload(body);
        var options = ScheduleForm.options(body);
        body.done();
        String name = call.value("name");
        return deeds.change(call, "schedule.put", "schedule/" + name, desk -> {
            wanted.check(deeds, desk);
            ScheduleChange change = desk.project().schedules().upsert(name, when, wanted.target(), payload, options);
            // Judged by what the change found under its lock, so that of two changes with one tag one is refused.
            Versions.check(call, before(change));
            if (change instanceof ScheduleChange.Created) quotas.schedules(desk);
            desk.note("change", change.getClass().getSimpleName().toLowerCase(java.util.Locale.ROOT));
            Schedule schedule = change.schedule();
            return Answer.json(
                            change instanceof ScheduleChange.Created ? 201 : 200,
                            Shapes.schedule(schedule, deeds.now()).put("warnings", Shapes.warnings(change.warnings())))
                    .version(schedule.version());
        });
    }

    private static Optional<Long> before(ScheduleChange change) {
        long now = change.schedule().version();
        if (change instanceof ScheduleChange.Created) return Optional.empty();
        return Optional.of(change instanceof ScheduleChange.Updated ? now - 1 : now);
    }

    private Answer delete(Call call) {
        return deeds.change(call, "schedule.delete", object(call), desk -> {
            Versions.check(call, Optional.of(there(desk, call).version()));
            if (!desk.project().schedules().delete(call.name("name"))) throw Problem.missing("schedule");
            return Answer.none();
        });
    }

    private static String object(Call call) {
        return "schedule/" + call.name("name");
    }

    private Answer pause(Call call) {
        Fields body = call.optionalFields();
        Optional<String> reason = body.text("reason");
        Optional<Instant> until = body.instant("until");
        body.done();
        return deeds.change(call, "schedule.pause", object(call), desk -> {
            desk.project()
                    .schedules()
                    .pause(call.name("name"), call.caller().actor(), reason.orElse(null), until.orElse(null));
            reason.ifPresent(why -> desk.note("reason", why));
            return shown(there(desk, call));
        });
    }

    private Answer resume(Call call) {
        call.optionalFields().done();
        return deeds.change(call, "schedule.resume", object(call), desk -> {
            desk.project().schedules().resume(call.name("name"));
            return shown(there(desk, call));
        });
    }

    private Answer trigger(Call call) {
        call.optionalFields().done();
        return deeds.change(call, "schedule.trigger", object(call), desk -> {
            quotas.waiting(desk, 1);
            String run = desk.project().schedules().trigger(call.name("name")).toString();
            desk.note("run", run);
            return Answer.json(201, new Doc().put("run", run));
        });
    }

    private Answer backfill(Call call) {
        Fields body = call.fields();
        Instant from = body.required("from", body.instant("from"));
        Instant to = body.required("to", body.instant("to"));
        boolean dry = body.flag("dryRun").orElse(false);
        DroppedHistory dropped =
                body.word("droppedHistory", DroppedHistory.class).orElse(DroppedHistory.REFUSE);
        body.done();
        if (from.isAfter(to)) throw Problem.invalid("/from", "This lies after 'to'.");
        return deeds.change(call, "schedule.backfill", object(call), desk -> {
            int count = desk.project().schedules().previewBackfill(call.name("name"), from, to, dropped);
            quotas.waiting(desk, count);
            if (!dry) desk.project().schedules().backfill(call.name("name"), from, to, dropped);
            desk.note("from", from.toString());
            desk.note("to", to.toString());
            desk.note("dryRun", Boolean.toString(dry));
            return Answer.ok(new Doc().put("runs", count).put("dryRun", dry));
        });
    }

    private Answer preview(Call call) {
        Fields body = call.fields();
        When when = ScheduleForm.when(body);
        Instant after = body.instant("after").orElseGet(deeds::now);
        int count = body.integer("count").orElse(10);
        body.done();
        return Answer.ok(Shapes.preview(body.making("count", () -> when.preview(after, count))));
    }

    private Answer ledger(Call call) {
        Instant to = call.instant("to").orElseGet(deeds::now);
        Instant from = call.instant("from").orElseGet(() -> to.minus(LEDGER));
        if (from.isAfter(to)) throw Call.parameter("from", "This lies after 'to'.");
        List<LedgerEntry> entries = deeds.read(call, desk -> ledger(desk, call, from, to));
        return Answer.ok(new Doc()
                .put("from", from)
                .put("to", to)
                .put("items", entries.stream().map(Shapes::entry).toList()));
    }

    private static List<LedgerEntry> ledger(Deeds.Desk desk, Call call, Instant from, Instant to) throws SQLException {
        there(desk, call);
        return desk.project().schedules().ledger(call.name("name"), from, to);
    }
}
