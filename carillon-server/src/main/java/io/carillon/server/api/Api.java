package io.carillon.server.api;

import io.carillon.server.http.Route;
import io.carillon.server.store.ProjectRepository;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** All routes of the server. To add a group of routes, write a class like the others here and add a line below. */
public final class Api {
    private Api() {}

    /** The data of the system routes, and the quota of projects that have none of their own. */
    public record Settings(Supplier<String> meters, String version, ProjectRepository.Quota quota) {}

    public static List<Route> routes(ServerContext context, Settings settings, BulkWorker bulk) {
        RequestExecutor executor = new RequestExecutor(context);
        QuotaCheck quotaCheck = new QuotaCheck(context.repositories(), settings.quota());
        List<Route> all = new ArrayList<>();
        all.addAll(new SystemRoutes(context, settings.meters(), settings.version()).routes());
        all.addAll(new ScheduleRoutes(executor, quotaCheck).routes());
        all.addAll(new TimelineRoutes(executor).routes());
        all.addAll(new RunRoutes(executor, quotaCheck).routes());
        all.addAll(new QueueRoutes(executor).routes());
        all.addAll(new BulkRoutes(executor, bulk, quotaCheck).routes());
        all.addAll(new KeyRoutes(executor).routes());
        all.addAll(new ProjectRoutes(executor).routes());
        all.addAll(new StreamRoutes(executor, quotaCheck).routes());
        all.addAll(new SecretRoutes(executor).routes());
        all.addAll(new WebhookRoutes(executor).routes());
        return all;
    }
}
