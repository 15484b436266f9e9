package io.carillon.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.event.EventPattern;
import io.carillon.internal.store.event.EventDispatchStore;
import io.carillon.internal.store.event.EventDispatchStore.Backlog;
import io.carillon.internal.store.event.EventDispatchStore.Cursor;
import io.carillon.internal.store.event.EventDispatchStore.Lane;
import io.carillon.internal.store.event.EventDispatchStore.Name;
import io.carillon.internal.store.event.EventDispatchStore.Subscriber;
import io.carillon.internal.store.event.EventPosition;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class BacklogLimiterTest {
    private final Map<Subscriber, Long> runs = new HashMap<>();

    /** A store in which each subscription has a lane of its own, with these runs. */
    private final EventDispatchStore store = (EventDispatchStore) Proxy.newProxyInstance(
            EventDispatchStore.class.getClassLoader(),
            new Class<?>[] {EventDispatchStore.class},
            (proxy, method, arguments) -> backlogs((Collection<?>) arguments[0]));

    private final BacklogLimiter limiter = new BacklogLimiter(store);

    private List<Backlog> backlogs(Collection<?> subscribers) {
        return subscribers.stream()
                .map(Subscriber.class::cast)
                .map(one -> new Backlog(
                        one, new Lane(one.project(), one.name(), one.name(), 1), runs.getOrDefault(one, 0L)))
                .toList();
    }

    private static List<Cursor> subscriptions(String project, int number) {
        List<Cursor> all = new ArrayList<>();
        for (int i = 0; i < number; i++)
            all.add(new Cursor(
                    new Name(project, "s" + i, -1),
                    1,
                    EventPattern.topic("orders"),
                    EventPosition.endOf(1),
                    EventPosition.endOf(1),
                    null,
                    Set.of()));
        return all;
    }

    private long createRuns(List<Cursor> cursors) {
        Map<Cursor, Integer> allowed = limiter.allowed(cursors);
        allowed.forEach((each, number) -> runs.merge(each.name().subscriber(), (long) number, Long::sum));
        return allowed.values().stream().mapToLong(Integer::longValue).sum();
    }

    @Test
    void the_lanes_of_a_project_get_a_hundred_thousand_runs_together() {
        List<Cursor> many = subscriptions("many", 1_000);

        assertThat(createRuns(many.subList(0, 200))).isBetween(90_000L, 100_000L);
        assertThat(createRuns(many.subList(0, 200))).isZero();
        assertThat(createRuns(many.subList(200, 1_000))).as("other lanes").isZero();
        assertThat(createRuns(subscriptions("other", 1))).isEqualTo(10_000);
    }

    @Test
    void few_lanes_have_the_limit_of_a_lane_only() {
        List<Cursor> few = subscriptions("few", 3);

        assertThat(createRuns(few)).isEqualTo(30_000);
        assertThat(createRuns(few)).isZero();
    }
}
