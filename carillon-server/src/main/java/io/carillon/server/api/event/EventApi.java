package io.carillon.server.api.event;

import io.carillon.server.api.QuotaCheck;
import io.carillon.server.api.RequestExecutor;
import io.carillon.server.api.ServerContext;
import io.carillon.server.http.Route;
import io.carillon.server.stream.StreamPermits;
import java.util.ArrayList;
import java.util.List;

/** All routes of events, subscriptions and relays. */
public final class EventApi {
    private EventApi() {}

    public static List<Route> routes(ServerContext context, QuotaCheck quotaCheck, StreamPermits streamPermits) {
        RequestExecutor executor = new RequestExecutor(context);
        List<Route> all = new ArrayList<>();
        all.addAll(new EventRoutes(executor, quotaCheck).routes());
        all.addAll(new EventTailRoute(executor, quotaCheck, streamPermits).routes());
        all.addAll(new SubscriptionRoutes(executor, quotaCheck).routes());
        all.addAll(new RelayRoutes(executor).routes());
        return all;
    }
}
