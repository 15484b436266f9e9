package io.carillon.server.api;

import io.carillon.server.http.Route;
import io.carillon.server.store.HouseRepository;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** All routes of the product. Who adds a family of routes writes a class like the others here, and one line below. */
public final class Api {
    private Api() {}

    /** What the system routes tell, and what a project may have that has no quota of its own. */
    public record Settings(Supplier<String> meters, String version, HouseRepository.Quota quota) {}

    public static List<Route> routes(House house, Settings settings, BulkWorker bulk) {
        Deeds deeds = new Deeds(house);
        Quotas quotas = new Quotas(house.tables().projects(), settings.quota());
        List<Route> all = new ArrayList<>();
        all.addAll(new SystemRoutes(house, settings.meters(), settings.version()).routes());
        all.addAll(new ScheduleRoutes(deeds, quotas).routes());
        all.addAll(new TimelineRoutes(deeds).routes());
        all.addAll(new RunRoutes(deeds, quotas).routes());
        all.addAll(new QueueRoutes(deeds).routes());
        all.addAll(new BulkRoutes(deeds, bulk).routes());
        all.addAll(new KeyRoutes(deeds).routes());
        all.addAll(new ProjectRoutes(deeds).routes());
        all.addAll(new StreamRoutes(deeds).routes());
        all.addAll(new SecretRoutes(deeds).routes());
        all.addAll(new WebhookRoutes(deeds).routes());
        return all;
    }
}
