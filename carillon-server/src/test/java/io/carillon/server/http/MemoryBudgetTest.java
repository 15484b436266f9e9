package io.carillon.server.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

/** The bodies of all requests in progress share a limited amount of memory, and a project has a part of it. */
class MemoryBudgetTest {
    @Test
    void memory_beyond_the_limit_is_refused_until_another_request_returns_some() {
        MemoryBudget budget = new MemoryBudget(200);
        MemoryBudget.Reservation first = budget.reserveNothing("shop");
        MemoryBudget.Reservation second = budget.reserveNothing("shop");
        first.add(60);
        second.add(40);

        assertRefused(second, 1);
        first.close();
        second.add(60);
        second.close();
        second.close();

        assertThat(budget.used()).isZero();
    }

    @Test
    void a_project_has_half_of_what_the_others_leave() {
        MemoryBudget budget = new MemoryBudget(100);
        MemoryBudget.Reservation greedy = budget.reserveNothing("greedy");
        MemoryBudget.Reservation shop = budget.reserveNothing("shop");
        greedy.add(50);
        shop.add(25);

        assertRefused(greedy, 1);
        assertRefused(budget.reserveNothing("greedy"), 1);
        assertRefused(shop, 1);
        budget.reserveNothing("third").add(12);
        greedy.close();
        shop.add(19);
        assertRefused(shop, 1);
    }

    private static void assertRefused(MemoryBudget.Reservation reservation, long bytes) {
        assertThatThrownBy(() -> reservation.add(bytes))
                .isInstanceOfSatisfying(
                        Problem.class, problem -> assertThat(problem.status()).isEqualTo(503));
    }
}
