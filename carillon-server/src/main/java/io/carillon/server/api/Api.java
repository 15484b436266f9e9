package io.carillon.server.api;

import io.carillon.server.access.LeakedKeys;
import io.carillon.server.access.NewKeyLimits;
import io.carillon.server.http.Route;
import io.carillon.server.store.ProjectRepository;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** All routes of the server. To add a group of routes, write a class like the others here and add a line below. */
public final class Api {
    private Api() {}

    /**
     * The data of the system routes, the quota of projects that have none of their own, and the longest lifetime of new
     * keys.
     */
    public record Settings(
            Supplier<String> meters,
            String version,
            ProjectRepository.Quota quota,
            Optional<Duration> maxKeyLifetime) {}

    public static List<Route> routes(ServerContext context, Settings settings, BulkWorker bulk, LeakedKeys leakedKeys) {
        RequestExecutor executor = new RequestExecutor(context);
        QuotaCheck quotaCheck = new QuotaCheck(context.repositories(), settings.quota());
        NewKeyLimits keyLimits = new NewKeyLimits(settings.maxKeyLifetime());
        List<Route> all = new ArrayList<>();
        all.addAll(new SystemRoutes(context, settings.meters(), settings.version()).routes());
        all.addAll(new ScheduleRoutes(executor, quotaCheck).routes());
        all.addAll(new TimelineRoutes(executor).routes());
        all.addAll(new RunRoutes(executor, quotaCheck).routes());
        all.addAll(new QueueRoutes(executor).routes());
        all.addAll(new BulkRoutes(executor, bulk, quotaCheck).routes());
        all.addAll(new KeyRoutes(executor, keyLimits, leakedKeys).routes());
        all.addAll(new ProjectRoutes(executor, keyLimits).routes());
        all.addAll(new StreamRoutes(executor, quotaCheck).routes());
        all.addAll(new EndpointRoutes(executor).routes());
        all.addAll(new WebhookRoutes(executor).routes());
        return all;
    }
}
