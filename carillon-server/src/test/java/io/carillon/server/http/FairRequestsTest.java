package io.carillon.server.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.carillon.server.RestTestServer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Many requests of one project at the same time do not keep the server from executing those of another one. */
class FairRequestsTest {
    private static final int REQUESTS = 50;
    private static final AtomicInteger EXECUTING = new AtomicInteger();
    private static final CountDownLatch END = new CountDownLatch(1);
    private static final CountDownLatch END_OF_FINE = new CountDownLatch(1);
    private static final AtomicInteger FINE = new AtomicInteger();

    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer(
            builder -> builder,
            server -> server.routes(List.of(
                    Route.get("/v1/expensive", Permission.READ, request -> execute(EXECUTING, END)),
                    Route.get("/v1/fine", Permission.READ, request -> execute(FINE, END_OF_FINE)))));

    private static ApiResponse execute(AtomicInteger counter, CountDownLatch end) {
        counter.incrementAndGet();
        try {
            end.await();
        } catch (InterruptedException closing) {
            Thread.currentThread().interrupt();
        }
        return ApiResponse.noContent();
    }

    private static int status(String key, String path) {
        return SERVER.sendTo(SERVER.server().port(), key, "GET", path, null).status();
    }

    @Test
    @Timeout(60)
    void a_project_executes_its_share_of_the_requests_and_the_others_wait() throws Exception {
        String greedy = SERVER.createProject("greedy");
        String shop = SERVER.createProject("shop");
        ExecutorService clients = Executors.newCachedThreadPool();
        try {
            Future<Integer> fine = clients.submit(() -> status(shop, "/v1/fine"));
            await().until(() -> FINE.get() == 1);
            List<Future<Integer>> expensive = new ArrayList<>();
            for (int i = 0; i < REQUESTS; i++) expensive.add(clients.submit(() -> status(greedy, "/v1/expensive")));
            await().until(() -> EXECUTING.get() > 0);

            for (int i = 0; i < 100; i++) SERVER.get(shop, "/v1/stats").requireStatus(200);
            assertThat(EXECUTING).hasValueLessThanOrEqualTo(RequestTurns.TOGETHER / 2);
            END.countDown();
            for (Future<Integer> one : expensive) assertThat(one.get()).isEqualTo(204);
            assertThat(EXECUTING).hasValue(REQUESTS);
            END_OF_FINE.countDown();
            assertThat(fine.get()).isEqualTo(204);
        } finally {
            END.countDown();
            END_OF_FINE.countDown();
            clients.shutdownNow();
        }
    }
}
