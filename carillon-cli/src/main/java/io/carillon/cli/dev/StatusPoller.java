package io.carillon.cli.dev;

import io.carillon.Carillon;
import io.carillon.Health;
import io.carillon.NodeInfo;
import io.carillon.schedule.Schedule;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Polls the API once a second on its own thread, so that a hanging database does not freeze the view. */
final class StatusPoller implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(StatusPoller.class);
    private static final long POLL_MILLIS = 1_000;
    private static final Duration WARNING_SHOWN = Duration.ofMinutes(1);

    /** The result of the last successful poll. */
    private record Status(List<Schedule> schedules, String nodes, List<String> issues, long nanos) {}

    /** A warning in the log. */
    private record Warning(String text, long nanos) {}

    private final Carillon carillon;
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Thread thread;
    private volatile Status lastStatus;
    private volatile Warning warning = new Warning("", System.nanoTime());

    private StatusPoller(Carillon carillon, List<Schedule> schedules) {
        this.carillon = carillon;
        this.lastStatus = new Status(schedules, "1 node", List.of(), System.nanoTime());
        this.thread = new Thread(this::loop, "carillon-dev-watch");
        thread.setDaemon(true);
    }

    static StatusPoller start(Carillon carillon, List<Schedule> schedules) {
        StatusPoller poller = new StatusPoller(carillon, schedules);
        poller.thread.start();
        return poller;
    }

    private void loop() {
        try {
            do {
                poll();
            } while (!closed.await(POLL_MILLIS, TimeUnit.MILLISECONDS));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void poll() {
        try {
            List<String> issues =
                    carillon.health().issues().stream().map(Health.Issue::text).toList();
            String nodes = nodes(carillon.nodes());
            lastStatus = new Status(carillon.schedules().list(), nodes, issues, System.nanoTime());
        } catch (RuntimeException unreachable) {
            // The view shows the time since the last successful poll.
            log.debug("could not poll the node", unreachable);
        }
    }

    private static String nodes(List<NodeInfo> nodes) {
        long alive = nodes.stream().filter(NodeInfo::alive).count();
        return alive == 1 ? "1 node" : alive + " nodes";
    }

    /** Shows a warning of the log for one minute. */
    void showWarning(String text) {
        warning = new Warning(text, System.nanoTime());
    }

    List<Schedule> schedules() {
        return lastStatus.schedules;
    }

    LiveSnapshot.Condition condition() {
        Status last = lastStatus;
        Warning latest = warning;
        String shown = since(latest.nanos).compareTo(WARNING_SHOWN) < 0 ? latest.text : "";
        return new LiveSnapshot.Condition(last.nodes, last.issues, shown).checkedFor(since(last.nanos));
    }

    private static Duration since(long nanos) {
        return Duration.ofNanos(System.nanoTime() - nanos);
    }

    @Override
    public void close() {
        closed.countDown();
        thread.interrupt();
        try {
            thread.join(TimeUnit.SECONDS.toMillis(5));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
