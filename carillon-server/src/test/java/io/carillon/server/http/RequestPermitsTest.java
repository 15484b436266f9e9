package io.carillon.server.http;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** One project, or callers without a key, cannot take the request permits of all others. */
class RequestPermitsTest {
    private final RequestPermits permits = new RequestPermits();
    private final List<RequestPermits.Permit> taken = new ArrayList<>();

    @Test
    void a_project_has_half_of_the_permits() {
        for (int i = 0; i < RequestPermits.PER_PROJECT; i++) taken.add(permits.forProject("greedy"));

        assertThatThrownBy(() -> permits.forProject("greedy"))
                .isInstanceOf(Problem.class)
                .hasMessageContaining("60 requests in progress");
        permits.forProject("other").release();
        permits.toIdentify().release();
        taken.remove(0).release();
        permits.forProject("greedy").release();
    }

    @Test
    void callers_without_a_key_have_their_own_permits() {
        for (int i = 0; i < RequestPermits.PUBLIC; i++) taken.add(permits.forPublic());

        assertThatThrownBy(permits::forPublic).isInstanceOf(Problem.class);
        for (int i = 0; i < RequestPermits.TOTAL; i++) taken.add(permits.toIdentify());
        assertThatThrownBy(permits::toIdentify).isInstanceOf(Problem.class);
        assertThatThrownBy(() -> permits.forProject("any")).isInstanceOf(Problem.class);
    }
}
