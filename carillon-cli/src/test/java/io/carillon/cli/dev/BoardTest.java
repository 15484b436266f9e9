package io.carillon.cli.dev;

import static io.carillon.cli.dev.Attempts.attempt;
import static io.carillon.cli.dev.Attempts.context;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.run.Transition;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class BoardTest {
    private final List<String> heard = new ArrayList<>();
    private final Board board =
            new Board(() -> Attempts.NOW, event -> heard.add(event.schedule() + " " + event.sentence()));

    @Test
    void shows_a_run_from_its_start_to_its_end() {
        board.started(attempt(1, "demo.report", 1));

        assertThat(board.running()).hasSize(1);
        assertThat(board.running().get(0).schedule()).isEqualTo("demo.report");
        assertThat(board.running().get(0).attempt()).isEqualTo(2);
        assertThat(board.running().get(0).part()).isNegative();

        board.ended(attempt(1, "demo.report", 1), new Transition.Complete(null), Duration.ofSeconds(12));

        assertThat(board.running()).isEmpty();
        assertThat(heard).containsExactly("demo.report succeeded in 12 s");
        assertThat(board.tally()).isEqualTo(new Board.Tally(1, 0, 0));
    }

    @Test
    void tells_of_progress_at_every_fifth_and_not_of_the_end() {
        board.started(attempt(1, "demo.report", 0));
        for (int done = 1; done <= 30; done++) board.progress(context(1), done, 30);

        assertThat(heard)
                .containsExactly(
                        "demo.report progress 20 %",
                        "demo.report progress 40 %", "demo.report progress 60 %", "demo.report progress 80 %");
        assertThat(board.running().get(0).part()).isEqualTo(1);
    }

    @Test
    void ignores_progress_of_runs_it_does_not_know_and_without_a_total() {
        board.progress(context(2), 1, 2);
        board.started(attempt(1, "demo.report", 0));
        board.progress(context(1), 1, 0);

        assertThat(heard).isEmpty();
        assertThat(board.running().get(0).part()).isNegative();
    }

    @Test
    void counts_each_failure_and_each_death() {
        board.ended(attempt(1, "a", 0), new Transition.Retry(Duration.ofSeconds(1), "no", false), Duration.ZERO);
        board.ended(attempt(1, "a", 1), new Transition.Die("no"), Duration.ZERO);

        assertThat(board.tally()).isEqualTo(new Board.Tally(0, 2, 1));
        assertThat(board.last()).extracting(RunEvent::word).containsExactly("dead", "failed");
    }

    @Test
    void what_still_runs_at_the_end_was_handed_back() {
        board.started(attempt(1, "demo.report", 0));

        assertThat(board.handBackTheRest()).isEqualTo(1);
        assertThat(board.running()).isEmpty();
        assertThat(heard).containsExactly("demo.report handed back, it runs again at the next start");
    }

    @Test
    void keeps_a_bounded_number_of_events() {
        for (int i = 0; i < 1_000; i++) board.ended(attempt(i, "a", 0), new Transition.Complete(null), Duration.ZERO);

        assertThat(board.last()).hasSize(200);
        assertThat(board.last().get(0).run()).isEqualTo(Attempts.run(999).toString());
        assertThat(board.tally().succeeded()).isEqualTo(1_000);
    }
}
