package io.carillon.server.api;

import io.carillon.BulkActions;
import io.carillon.CarillonException;
import io.carillon.QueueInfo;
import io.carillon.Stats.RunStats;
import io.carillon.Stats.RunStats.Count;
import io.carillon.internal.value.Durations;
import io.carillon.run.RunFilter;
import io.carillon.run.RunState;
import io.carillon.server.http.ApiRequest;
import io.carillon.server.http.ApiResponse;
import io.carillon.server.http.JsonObject;
import io.carillon.server.http.Permission;
import io.carillon.server.http.Route;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Statistics of the runs of the caller's project. */
final class StatsRoutes {
    private static final int MAX_GROUPS = 100;
    private static final String OUTCOME = "outcome";
    private static final String OTHER = "other";

    private static final int MAX_COUNT = 10_000;

    private final RequestExecutor executor;

    StatsRoutes(RequestExecutor executor) {
        this.executor = executor;
    }

    List<Route> routes() {
        return List.of(Route.get("/v1/stats", Permission.READ, this::stats)
                .withQuery("from", "to", "step", "by", "queue", "handler", "limit"));
    }

    private ApiResponse stats(ApiRequest request) {
        RunStats.Query query = orInvalidParameter(() -> query(request));
        return executor.read(request, transaction -> {
            RunStats stats = orInvalidParameter(() -> transaction.project().stats(query));
            List<QueueInfo> queues = transaction.project().queues().list();
            BulkActions.Count dead = count(transaction, RunState.DEAD);
            BulkActions.Count quarantined = count(transaction, RunState.QUARANTINED);
            boolean complete = queues.size() < QueueRoutes.MAX_QUEUES
                    && dead.complete()
                    && quarantined.complete()
                    && queues.stream().allMatch(QueueInfo::complete);
            return ApiResponse.ok(new JsonObject()
                    .put("from", stats.from())
                    .put("to", stats.to())
                    .put("step", stats.step())
                    .put(
                            "waiting",
                            queues.stream().mapToLong(QueueInfo::waiting).sum())
                    .put(
                            "running",
                            queues.stream().mapToLong(QueueInfo::running).sum())
                    .put("dead", dead.matching())
                    .put("quarantined", quarantined.matching())
                    .put("more", !complete)
                    .put("total", figures(stats.total()))
                    .put("points", points(stats.points(), null))
                    .put(
                            "groups",
                            stats.groups().stream().map(StatsRoutes::group).toList()));
        });
    }

    private static BulkActions.Count count(RequestExecutor.RequestTransaction transaction, RunState state) {
        return transaction.project().runs().bulk(RunFilter.all().state(state)).countFirst(MAX_COUNT);
    }

    private static RunStats.Query query(ApiRequest request) {
        RunStats.Query query = RunStats.query();
        query = request.instant("from").map(query::from).orElse(query);
        query = request.instant("to").map(query::to).orElse(query);
        query = request.query("step")
                .map(StatsRoutes::duration)
                .map(query::step)
                .orElse(query);
        query = request.query("queue").map(query::queue).orElse(query);
        query = request.query("handler").map(query::handler).orElse(query);
        query = request.query("limit")
                .map(text -> request.countParameter("limit", text, MAX_GROUPS))
                .map(query::limit)
                .orElse(query);
        List<String> groupings = Stream.of(RunStats.Grouping.values())
                .map(RunStats.Grouping::text)
                .toList();
        return request.wordParameter("by", groupings)
                .map(by -> RunStats.Grouping.valueOf(by.toUpperCase(Locale.ROOT)))
                .map(query::by)
                .orElse(query);
    }

    private static Duration duration(String text) {
        return Durations.parse(text)
                .orElseThrow(() -> ApiRequest.invalidParameter("step", "This must be a duration such as 1m or PT1H."));
    }

    private interface Call<T> {
        T run();
    }

    /** Names the query parameter that an error concerns: the messages begin with it, or say "The queue name". */
    private static <T> T orInvalidParameter(Call<T> call) {
        try {
            return call.run();
        } catch (CarillonException invalid) {
            String message = String.valueOf(invalid.getMessage());
            Optional<String> parameter = Stream.of("from", "step", "queue", "handler")
                    .filter(name -> message.startsWith(name + " ") || message.startsWith("The " + name + " name "))
                    .findFirst();
            throw parameter.isPresent() ? ApiRequest.invalidParameter(parameter.get(), message) : invalid;
        }
    }

    private static JsonObject group(RunStats.Group group) {
        Count outcome =
                group.kind().equals(OUTCOME) ? Count.valueOf(group.name().toUpperCase(Locale.ROOT)) : null;
        return new JsonObject()
                .put(group.kind(), group.kind().equals(OTHER) ? (Object) true : group.name())
                .put("total", figures(group.total(), outcome))
                .put("points", points(group.points(), outcome));
    }

    private static List<JsonObject> points(List<RunStats.Point> points, @Nullable Count outcome) {
        return points.stream()
                .map(point -> addTo(new JsonObject().put("at", point.at()), point.figures(), outcome))
                .toList();
    }

    private static JsonObject figures(RunStats.Figures figures) {
        return figures(figures, null);
    }

    private static JsonObject figures(RunStats.Figures figures, @Nullable Count outcome) {
        return addTo(new JsonObject(), figures, outcome);
    }

    /** Adds the figures, or only those of one outcome. */
    private static JsonObject addTo(JsonObject json, RunStats.Figures figures, @Nullable Count outcome) {
        if (outcome != null)
            return json.put("ended", figures.count(outcome)).put("perSecond", figures.perSecond(outcome));
        json.put("ended", figures.ended()).put("perSecond", figures.perSecond());
        for (Count what : Count.values()) json.put(what.text(), figures.count(what));
        return json.put("failureRate", figures.failureRate().orElse(null))
                .put("latenessMillis", times(figures.lateness()))
                .put("waitMillis", times(figures.waitTime()))
                .put("runMillis", times(figures.runTime()));
    }

    private static @Nullable JsonObject times(RunStats.Times times) {
        if (times.count() == 0) return null;
        return new JsonObject()
                .put("count", times.count())
                .put("mean", millis(times.mean()))
                .put("p50", millis(times.p50()))
                .put("p95", millis(times.p95()))
                .put("p99", millis(times.p99()));
    }

    private static double millis(Duration duration) {
        return duration.toNanos() / 1_000_000.0;
    }
}
