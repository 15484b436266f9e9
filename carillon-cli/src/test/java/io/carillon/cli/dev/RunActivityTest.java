package io.carillon.cli.dev;

import static io.carillon.cli.dev.SampleAttempts.attempt;
import static io.carillon.cli.dev.SampleAttempts.context;
import static io.carillon.cli.dev.SampleAttempts.started;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.spi.RunEvent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RunActivityTest {
    private final List<String> reportedEvents = new ArrayList<>();
    private final RunActivity activity = new RunActivity(
            () -> SampleAttempts.NOW, event -> reportedEvents.add(event.schedule() + " " + event.sentence()));

    @Test
    void shows_a_run_from_its_start_to_its_end() {
        activity.onRunEvent(started(1, "demo.report", 1));

        assertThat(activity.running()).hasSize(1);
        assertThat(activity.running().get(0).schedule()).isEqualTo("demo.report");
        assertThat(activity.running().get(0).attempt()).isEqualTo(2);
        assertThat(activity.running().get(0).fraction()).isNegative();

        activity.onRunEvent(new RunEvent.Succeeded(attempt(1, "demo.report", 1), Duration.ofSeconds(12)));

        assertThat(activity.running()).isEmpty();
        assertThat(reportedEvents).containsExactly("demo.report succeeded in 12 s");
        assertThat(activity.totals()).isEqualTo(new RunActivity.Totals(1, 0, 0));
    }

    @Test
    void reports_progress_at_every_fifth_but_not_at_the_end() {
        activity.onRunEvent(started(1, "demo.report", 0));
        for (int done = 1; done <= 30; done++) activity.progress(context(1), done, 30);

        assertThat(reportedEvents)
                .containsExactly(
                        "demo.report progress 20 %",
                        "demo.report progress 40 %", "demo.report progress 60 %", "demo.report progress 80 %");
        assertThat(activity.running().get(0).fraction()).isEqualTo(1);
    }

    @Test
    void ignores_progress_of_unknown_runs_and_without_a_total() {
        activity.progress(context(2), 1, 2);
        activity.onRunEvent(started(1, "demo.report", 0));
        activity.progress(context(1), 1, 0);

        assertThat(reportedEvents).isEmpty();
        assertThat(activity.running().get(0).fraction()).isNegative();
    }

    @Test
    void counts_each_failure_and_each_dead_run() {
        activity.onRunEvent(new RunEvent.Failed(attempt(1, "a", 0), Duration.ZERO, "no", false, Duration.ofSeconds(1)));
        activity.onRunEvent(new RunEvent.Dead(attempt(1, "a", 1), Duration.ZERO, "no"));

        assertThat(activity.totals()).isEqualTo(new RunActivity.Totals(0, 2, 1));
        assertThat(activity.recentEvents()).extracting(ActivityEvent::label).containsExactly("dead", "failed");
    }

    @Test
    void runs_still_active_at_the_end_are_reported_as_handed_back() {
        activity.onRunEvent(started(1, "demo.report", 0));

        assertThat(activity.markHandedBack()).isEqualTo(1);
        assertThat(activity.running()).isEmpty();
        assertThat(reportedEvents).containsExactly("demo.report handed back, runs again at the next start");
    }

    @Test
    void keeps_a_bounded_number_of_events() {
        for (int i = 0; i < 1_000; i++) activity.onRunEvent(new RunEvent.Succeeded(attempt(i, "a", 0), Duration.ZERO));

        assertThat(activity.recentEvents()).hasSize(200);
        assertThat(activity.recentEvents().get(0).run())
                .isEqualTo(SampleAttempts.run(999).toString());
        assertThat(activity.totals().succeeded()).isEqualTo(1_000);
    }
}
