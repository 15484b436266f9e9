package io.carillon.server.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

/** The bodies of all requests in progress share a limited amount of memory. */
class MemoryBudgetTest {
    @Test
    void memory_beyond_the_limit_is_refused_until_another_request_returns_some() {
        MemoryBudget budget = new MemoryBudget(100);
        MemoryBudget.Reservation first = budget.reserveNothing();
        MemoryBudget.Reservation second = budget.reserveNothing();
        first.add(60);
        second.add(40);

        assertThatThrownBy(() -> second.add(1))
                .isInstanceOfSatisfying(
                        Problem.class, problem -> assertThat(problem.status()).isEqualTo(503));
        first.close();
        second.add(60);
        second.close();
        second.close();

        assertThat(budget.used()).isZero();
    }
}
