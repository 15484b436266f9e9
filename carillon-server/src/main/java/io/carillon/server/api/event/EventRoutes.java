package io.carillon.server.api.event;

import io.carillon.CarillonException;
import io.carillon.event.Event;
import io.carillon.event.EventId;
import io.carillon.event.Events;
import io.carillon.event.NewEvent;
import io.carillon.event.PublishResult;
import io.carillon.run.Payload;
import io.carillon.run.Run;
import io.carillon.server.api.QuotaCheck;
import io.carillon.server.api.RequestExecutor;
import io.carillon.server.event.EventInput;
import io.carillon.server.event.EventJson;
import io.carillon.server.http.ApiRequest;
import io.carillon.server.http.ApiResponse;
import io.carillon.server.http.JsonFields;
import io.carillon.server.http.JsonObject;
import io.carillon.server.http.Permission;
import io.carillon.server.http.Problem;
import io.carillon.server.http.Route;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Routes to publish, list and read events, and to list topics. */
final class EventRoutes {
    private static final int MAX_BATCH = 1_000;

    /** As many subscriptions as a project may have by default. */
    private static final int MAX_DELIVERIES = 200;

    private static final List<String> ORDERS = List.of("oldest", "newest");

    private final RequestExecutor executor;
    private final QuotaCheck quotaCheck;

    EventRoutes(RequestExecutor executor, QuotaCheck quotaCheck) {
        this.executor = executor;
        this.quotaCheck = quotaCheck;
    }

    List<Route> routes() {
        return List.of(
                Route.get("/v1/events", Permission.READ, this::list)
                        .withQuery("topic", "type", "key", "after", "from", "order", "limit"),
                Route.post("/v1/events", Permission.ENQUEUE, this::publish),
                Route.post("/v1/events:batch", Permission.ENQUEUE, this::publishMany),
                Route.get("/v1/events/{id}", Permission.READ, this::get),
                Route.get("/v1/topics", Permission.READ, this::topics));
    }

    private ApiResponse publish(ApiRequest request) {
        NewEvent<Payload> event = EventInput.read(request.fields());
        String topic = event.type().topic().name();
        return executor.change(request, "event.publish", "topic/" + topic, transaction -> {
            quotaCheck.checkEvents(transaction, List.of(event));
            PublishResult result = transaction.project().events().publish(event);
            EventId id = EventJson.requireStored(result);
            transaction.addAuditDetail("event", id.toString());
            transaction.addAuditDetail("type", event.type().name());
            boolean published = result instanceof PublishResult.Published;
            ApiResponse response = ApiResponse.json(published ? 201 : 200, EventJson.toJson(result));
            return published ? response.withLocation(EventJson.path(id)) : response;
        });
    }

    /** Publishes all events or none, in their order. */
    private ApiResponse publishMany(ApiRequest request) {
        JsonFields body = request.fields();
        List<JsonFields> items = body.required("events", body.objects("events"));
        if (items.isEmpty() || items.size() > MAX_BATCH)
            throw Problem.invalid("/events", "This must have between 1 and %d items.".formatted(MAX_BATCH));
        body.refuseUnknown();
        List<NewEvent<Payload>> events = items.stream().map(EventInput::read).toList();
        Set<String> topics = events.stream()
                .map(event -> event.type().topic().name())
                .collect(Collectors.toCollection(TreeSet::new));
        String object = topics.size() == 1 ? "topic/" + topics.iterator().next() : "topics";
        return executor.change(request, "event.publish", object, transaction -> {
            quotaCheck.checkEvents(transaction, events);
            List<PublishResult> results = transaction.project().events().publishAll(events);
            results.forEach(EventJson::requireStored);
            transaction.addAuditDetail("events", Integer.toString(events.size()));
            return ApiResponse.json(
                    201,
                    new JsonObject()
                            .put(
                                    "items",
                                    results.stream().map(EventJson::toJson).toList()));
        });
    }

    private ApiResponse list(ApiRequest request) {
        EventFilterParser filter = EventFilterParser.of(request);
        int limit = request.limit();
        if (request.wordParameter("order", ORDERS).filter("newest"::equals).isPresent()) {
            filter.refusePosition();
            List<Event<Payload>> newest = executor.read(
                    request, transaction -> transaction.project().events().latest(filter.filter(), limit));
            return ApiResponse.ok(new JsonObject()
                    .put("items", newest.stream().map(EventJson::toJson).toList()));
        }
        Optional<String> after = filter.after(executor.context().cursors());
        Optional<Instant> from = request.instant("from");
        Events.Page page = executor.read(request, transaction -> {
            Events events = transaction.project().events();
            String position = after.orElseGet(() -> from.map(events::before).orElse(""));
            return events.list(filter.filter(), position, limit);
        });
        return ApiResponse.ok(new JsonObject()
                .put("items", page.events().stream().map(EventJson::toJson).toList())
                .put("next", executor.context().cursors().eventPosition(request, page.next()))
                .put("atEnd", page.atEnd()));
    }

    private ApiResponse topics(ApiRequest request) {
        return executor.read(
                request,
                transaction -> ApiResponse.ok(new JsonObject()
                        .put(
                                "items",
                                transaction.project().events().topics().stream()
                                        .map(EventJson::toJson)
                                        .toList())));
    }

    private ApiResponse get(ApiRequest request) {
        EventId id = id(request);
        return executor.read(request, transaction -> {
            Event<Payload> event = transaction.project().events().get(id).orElseThrow(() -> Problem.notFound("event"));
            List<Run> deliveries = transaction.project().events().deliveries(id, MAX_DELIVERIES + 1);
            return ApiResponse.ok(EventJson.toJson(event)
                    .put(
                            "deliveries",
                            deliveries.stream()
                                    .limit(MAX_DELIVERIES)
                                    .map(EventJson::delivery)
                                    .toList())
                    .put("moreDeliveries", deliveries.size() > MAX_DELIVERIES));
        });
    }

    /** Returns the id in the path. A value that is not a valid id is answered with 404. */
    private static EventId id(ApiRequest request) {
        try {
            return EventId.parse(request.pathValue("id"));
        } catch (CarillonException malformed) {
            throw Problem.notFound("event");
        }
    }
}
