package io.carillon.server.api;

import io.carillon.Bulk;
import io.carillon.run.RunFilter;
import io.carillon.run.RunState;
import io.carillon.server.http.Answer;
import io.carillon.server.http.Call;
import io.carillon.server.http.Doc;
import io.carillon.server.http.Fields;
import io.carillon.server.http.Permission;
import io.carillon.server.http.Problem;
import io.carillon.server.http.Route;
import io.carillon.server.store.BulkRepository;
import io.carillon.server.store.BulkRepository.Kept;
import io.carillon.server.store.BulkRepository.Order;
import io.carillon.server.store.BulkRepository.State;
import io.carillon.value.CarillonException;
import io.carillon.value.PublicId;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** What is done to many runs at once: counted, begun, looked at and broken off. The work itself is the {@link BulkWorker}'s. */
final class BulkRoutes {
    private final Deeds deeds;
    private final BulkRepository actions;
    private final BulkWorker worker;

    BulkRoutes(Deeds deeds, BulkWorker worker) {
        this.deeds = deeds;
        this.actions = deeds.house().tables().bulk();
        this.worker = worker;
    }

    List<Route> routes() {
        return List.of(
                Route.get("/v1/bulk-actions", Permission.READ, this::list).with("limit", "cursor"),
                Route.post("/v1/bulk-actions", Permission.MANAGE, this::begin),
                Route.get("/v1/bulk-actions/{id}", Permission.READ, this::get),
                Route.post("/v1/bulk-actions/{id}/abort", Permission.MANAGE, this::abort));
    }

    /** What there is to do. */
    private enum Verb {
        CANCEL,
        REDRIVE,
        DELETE,
        RESCHEDULE
    }

    private Answer begin(Call call) {
        Fields body = call.fields();
        Verb verb = body.required("action", body.word("action", Verb.class));
        RunFilter filter = filter(body.required("filter", body.object("filter")));
        Optional<Instant> at = body.instant("at");
        boolean dry = body.flag("dryRun").orElse(false);
        body.done();
        if (at.isPresent() != (verb == Verb.RESCHEDULE))
            throw Problem.invalid("/at", "This is required to reschedule, and no part of anything else.");
        Order order = new Order(
                Fields.wordOf(verb), filter, at.orElse(null), call.caller().actor(), call.requestId());
        if (dry)
            return Answer.ok(counted(new Doc(), deeds.read(call, desk -> matching(desk, body, order)))
                    .put("dryRun", true));
        Answer answer = deeds.change(call, "bulk." + order.action(), "runs/" + state(filter), desk -> {
            long matching = matching(desk, body, order);
            UUID id = actions.insert(desk.connection(), desk.project().name(), order, matching);
            desk.note("bulk", PublicId.format(BulkWorker.PREFIX, id));
            desk.note("filter", filter.toString());
            desk.note("matching", Long.toString(matching));
            return Answer.json(202, shown(there(desk, id)));
        });
        worker.call();
        return answer;
    }

    private static RunFilter filter(Fields form) {
        RunFilter of = RunFilter.all().state(form.required("state", form.word("state", RunState.class)));
        Optional<String> queue = form.text("queue");
        Optional<String> handler = form.text("handler");
        form.done();
        RunFilter in = queue.isEmpty() ? of : form.making("queue", () -> of.queue(queue.get()));
        return handler.isEmpty() ? in : form.making("handler", () -> in.handler(handler.get()));
    }

    private static String state(RunFilter filter) {
        RunState state = filter.state();
        return state == null ? "" : state.text();
    }

    private static long matching(Deeds.Desk desk, Fields body, Order order) {
        return body.making(
                "filter",
                () -> desk.project()
                        .runs()
                        .bulk(order.filter())
                        .checked(order.deed())
                        .count(Bulk.COUNTED + 1));
    }

    /** Runs are counted up to a bound: beyond it the answer says that there are more. */
    private static Doc counted(Doc doc, long matching) {
        return doc.put("matching", Math.min(matching, Bulk.COUNTED)).put("more", matching > Bulk.COUNTED);
    }

    /** What cannot be an id names nothing. */
    private static UUID id(Call call) {
        try {
            return PublicId.parse(BulkWorker.PREFIX, call.value("id"));
        } catch (CarillonException malformed) {
            throw Problem.missing("bulk action");
        }
    }

    private Kept there(Deeds.Desk desk, UUID id) throws SQLException {
        return actions.get(desk.connection(), desk.project().name(), id)
                .orElseThrow(() -> Problem.missing("bulk action"));
    }

    private Answer list(Call call) {
        int limit = call.limit();
        Optional<UUID> behind = deeds.cursor(call).map(id -> PublicId.parse(BulkWorker.PREFIX, id));
        List<Kept> found = deeds.read(
                call, desk -> actions.list(desk.connection(), desk.project().name(), behind, limit + 1));
        return deeds.page(call, found, limit, BulkRoutes::shown, kept -> PublicId.format(BulkWorker.PREFIX, kept.id()));
    }

    private Answer get(Call call) {
        return Answer.ok(shown(deeds.read(call, desk -> there(desk, id(call)))));
    }

    /** What is done stays done. Broken off twice is broken off. */
    private Answer abort(Call call) {
        call.optionalFields().done();
        UUID id = id(call);
        return deeds.change(call, "bulk.abort", "bulk/" + PublicId.format(BulkWorker.PREFIX, id), desk -> {
            there(desk, id);
            actions.end(
                    desk.connection(), new BulkRepository.Place(desk.project().name(), id), State.ABORTED, null);
            Kept now = there(desk, id);
            if (now.progress().state() != State.ABORTED)
                throw Problem.of(
                        409,
                        "bulk-ended",
                        "The bulk action has ended already: %s. There is nothing to break off."
                                .formatted(Fields.wordOf(now.progress().state())));
            desk.note("done", Long.toString(now.progress().done()));
            return Answer.ok(shown(now));
        });
    }

    private static Doc shown(Kept kept) {
        Order order = kept.order();
        BulkRepository.Progress progress = kept.progress();
        Doc doc = new Doc()
                .put("id", PublicId.format(BulkWorker.PREFIX, kept.id()))
                .put("action", order.action())
                .put(
                        "filter",
                        new Doc()
                                .put("state", state(order.filter()))
                                .put("queue", order.filter().queue())
                                .put("handler", order.filter().handler()))
                .put("at", order.at())
                .put("state", Fields.wordOf(progress.state()))
                .put("reason", progress.reason());
        return counted(doc, progress.matching())
                .put("done", progress.done())
                .put("createdBy", order.actor())
                .put("createdAt", kept.createdAt())
                .put("endedAt", kept.endedAt());
    }
}
