package io.carillon.cli.dev;

import io.carillon.Carillon;
import io.carillon.schedule.Schedule;
import io.carillon.store.NodeView;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Asks the front door once a second, on a thread of its own: a database that hangs must not freeze the view. */
final class Watch implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Watch.class);
    private static final long PAUSE_MILLIS = 1_000;
    private static final Duration WARNING_SHOWN = Duration.ofMinutes(1);

    /** What the last look found. */
    private record Seen(List<Schedule> schedules, String nodes, List<String> issues, long nanos) {}

    /** A line of the log. */
    private record Warning(String text, long nanos) {}

    private final Carillon carillon;
    private final CountDownLatch over = new CountDownLatch(1);
    private final Thread thread;
    private volatile Seen seen;
    private volatile Warning warning = new Warning("", System.nanoTime());

    private Watch(Carillon carillon, List<Schedule> schedules) {
        this.carillon = carillon;
        this.seen = new Seen(schedules, "1 node", List.of(), System.nanoTime());
        this.thread = new Thread(this::loop, "carillon-dev-watch");
        thread.setDaemon(true);
    }

    static Watch over(Carillon carillon, List<Schedule> schedules) {
        Watch watch = new Watch(carillon, schedules);
        watch.thread.start();
        return watch;
    }

    private void loop() {
        try {
            do {
                look();
            } while (!over.await(PAUSE_MILLIS, TimeUnit.MILLISECONDS));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void look() {
        try {
            List<String> issues = carillon.health().issues();
            String nodes = nodes(carillon.nodes());
            seen = new Seen(carillon.schedules().list(), nodes, issues, System.nanoTime());
        } catch (RuntimeException unreachable) {
            // The view tells how long ago the last look was.
            log.debug("the view could not look", unreachable);
        }
    }

    private static String nodes(List<NodeView> nodes) {
        long alive = nodes.stream().filter(NodeView::alive).count();
        return alive == 1 ? "1 node" : alive + " nodes";
    }

    /** A warning of the log, to be shown for a while. */
    void warned(String text) {
        warning = new Warning(text, System.nanoTime());
    }

    List<Schedule> schedules() {
        return seen.schedules;
    }

    Picture.Condition condition() {
        Seen last = seen;
        Warning said = warning;
        String shown = since(said.nanos).compareTo(WARNING_SHOWN) < 0 ? said.text : "";
        return new Picture.Condition(last.nodes, last.issues, shown).after(since(last.nanos));
    }

    private static Duration since(long nanos) {
        return Duration.ofNanos(System.nanoTime() - nanos);
    }

    @Override
    public void close() {
        over.countDown();
        thread.interrupt();
        try {
            thread.join(TimeUnit.SECONDS.toMillis(5));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
