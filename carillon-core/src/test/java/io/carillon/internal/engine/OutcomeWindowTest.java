package io.carillon.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.internal.run.Lane;
import io.carillon.internal.store.run.LaneOutcomes;
import org.junit.jupiter.api.Test;

class OutcomeWindowTest {
    private static final Lane MAIL = new Lane("mail", "default");
    private final OutcomeWindow window = new OutcomeWindow();

    @Test
    void reports_when_half_of_at_least_twenty_attempts_failed() {
        for (int i = 0; i < 10; i++) assertThat(window.count(false, 5)).isFalse();
        for (int i = 0; i < 9; i++) assertThat(window.count(true, 6)).isFalse();
        assertThat(window.count(true, 7)).isTrue();
        for (int i = 0; i < 2; i++) window.count(false, 7);
        assertThat(window.count(true, 7)).isFalse();
    }

    @Test
    void forgets_each_second_after_a_minute() {
        window.count(true, -100);
        window.count(false, -99);
        window.count(false, -50);

        assertThat(window.outcomes(MAIL, -41, false)).isEqualTo(new LaneOutcomes(MAIL, 2, 1, false));
        assertThat(window.outcomes(MAIL, -40, false)).isEqualTo(new LaneOutcomes(MAIL, 2, 0, false));
        assertThat(window.outcomes(MAIL, -39, false)).isEqualTo(new LaneOutcomes(MAIL, 1, 0, false));
        assertThat(window.outcomes(MAIL, 1_000, false)).isEqualTo(new LaneOutcomes(MAIL, 0, 0, false));
    }
}
