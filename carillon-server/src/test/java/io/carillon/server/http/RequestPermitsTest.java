package io.carillon.server.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** One project, or callers without a key, cannot take the request permits of all others. */
class RequestPermitsTest {
    private final RequestPermits permits = new RequestPermits();
    private final List<RequestPermits.Permit> taken = new ArrayList<>();

    @Test
    void a_project_has_half_of_the_permits() {
        for (int i = 0; i < RequestPermits.TOTAL / 2; i++) taken.add(permits.forProject("greedy"));

        assertThatThrownBy(() -> permits.forProject("greedy"))
                .isInstanceOf(Problem.class)
                .hasMessageContaining("as many requests in progress as it may have");
        permits.forProject("other").release();
        permits.toIdentify().release();
        taken.remove(0).release();
        permits.forProject("greedy").release();
    }

    @Test
    void five_projects_that_take_all_they_can_leave_permits_to_a_sixth() {
        for (int project = 0; project < 5; project++)
            try {
                while (true) taken.add(permits.forProject("greedy" + project));
            } catch (Problem full) {
                assertThat(full.status()).isEqualTo(503);
            }

        taken.add(permits.forProject("fine"));
        taken.add(permits.forProject("fine"));
    }

    @Test
    @Timeout(30)
    void callers_without_a_key_have_their_own_permits_and_execute_few_requests_together() throws Exception {
        AtomicInteger executing = new AtomicInteger();
        CountDownLatch end = new CountDownLatch(1);
        ExecutorService clients = Executors.newCachedThreadPool();
        try {
            List<Future<?>> requests = new ArrayList<>();
            for (int i = 0; i < RequestPermits.PUBLIC; i++)
                requests.add(clients.submit(() -> {
                    RequestPermits.Permit permit = permits.forPublic();
                    executing.incrementAndGet();
                    end.await();
                    permit.release();
                    return permit;
                }));
            await().until(() -> permits.freePublic() == 0 && executing.get() > 0);

            assertThatThrownBy(permits::forPublic).isInstanceOf(Problem.class);
            for (int i = 0; i < RequestPermits.TOTAL; i++) taken.add(permits.toIdentify());
            assertThatThrownBy(permits::toIdentify).isInstanceOf(Problem.class);
            assertThatThrownBy(() -> permits.forProject("any")).isInstanceOf(Problem.class);
            assertThat(executing).hasValueLessThanOrEqualTo(RequestPermits.PUBLIC_TOGETHER);
            end.countDown();
            for (Future<?> request : requests) request.get();
            assertThat(executing).hasValue(RequestPermits.PUBLIC);
        } finally {
            end.countDown();
            clients.shutdownNow();
        }
    }
}
