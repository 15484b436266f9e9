package io.carillon.webhook.hosts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class ProjectSharesTest {
    @Test
    void each_project_may_hold_half_of_what_the_others_leave() {
        ProjectShares shares = new ProjectShares(16);

        assertThat(takeAll(shares, "a")).isEqualTo(8);
        assertThat(takeAll(shares, "b")).isEqualTo(4);
        assertThat(takeAll(shares, "c")).isEqualTo(2);
        assertThat(takeAll(shares, "d")).isEqualTo(1);
        assertThat(takeAll(shares, "e")).as("the last place").isEqualTo(1);
        assertThat(takeAll(shares, "f")).as("more than there are").isZero();
    }

    @Test
    void a_single_place_can_be_taken() {
        assertThat(takeAll(new ProjectShares(1), "a")).isEqualTo(1);
    }

    @Test
    void a_released_place_is_free_for_every_project() {
        ProjectShares shares = new ProjectShares(2);
        assertThat(takeAll(shares, "a")).isEqualTo(1);
        assertThat(takeAll(shares, "b")).isEqualTo(1);
        shares.release("a");

        assertThat(shares.tryAcquire("c")).isTrue();
        assertThat(shares.tryAcquire("a")).isFalse();
        shares.release("b");
        assertThat(shares.tryAcquire("a")).isTrue();
    }

    @Test
    void releasing_a_place_that_is_not_held_is_an_error() {
        ProjectShares shares = new ProjectShares(4);
        shares.tryAcquire("a");
        shares.release("a");

        assertThatThrownBy(() -> shares.release("a")).isInstanceOf(IllegalStateException.class);
    }

    private static int takeAll(ProjectShares shares, String project) {
        int taken = 0;
        while (shares.tryAcquire(project)) taken++;
        return taken;
    }
}
