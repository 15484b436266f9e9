package io.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.run.Lane;
import io.carillon.store.LaneLoad;
import org.junit.jupiter.api.Test;

class LoadWindowTest {
    private static final Lane MAIL = new Lane("mail", "default");
    private final LoadWindow window = new LoadWindow();

    @Test
    void is_alarmed_when_half_of_at_least_twenty_failed() {
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

        assertThat(window.load(MAIL, -41)).isEqualTo(new LaneLoad(MAIL, 2, 1));
        assertThat(window.load(MAIL, -40)).isEqualTo(new LaneLoad(MAIL, 2, 0));
        assertThat(window.load(MAIL, -39)).isEqualTo(new LaneLoad(MAIL, 1, 0));
        assertThat(window.load(MAIL, 1_000)).isEqualTo(new LaneLoad(MAIL, 0, 0));
    }
}
