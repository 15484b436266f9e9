package io.carillon.server.endpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import io.carillon.CarillonException;
import io.carillon.server.RestTestServer;
import io.carillon.server.hooks.ServerWebhooks;
import io.carillon.server.store.EndpointRepository;
import io.carillon.server.store.StoredEndpoint;
import io.carillon.server.store.Transactions;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Reading large endpoints uses little memory: each is one row, and only what is needed is read. */
class EndpointReadsTest {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final int ENDPOINTS = 200;
    private static final int SECRETS = 16;

    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer();

    @BeforeAll
    static void storeLargeEndpoints() {
        String key = SERVER.createProject("large");
        String value = "v".repeat(1_900);
        String headers = IntStream.range(0, 4)
                .mapToObj(i -> "\"x-%d\":\"%s\"".formatted(i, value))
                .collect(Collectors.joining(","));
        String secrets = IntStream.range(0, SECRETS)
                .mapToObj(i -> "{\"name\":\"s%d\",\"header\":\"y-%d\",\"value\":\"%s\"}".formatted(i, i, value))
                .collect(Collectors.joining(","));
        SERVER.post(
                        key,
                        "/v1/endpoints",
                        "{\"name\":\"e\",\"url\":\"https://a.example/\",\"headers\":{%s},\"secrets\":[%s]}"
                                .formatted(headers, secrets))
                .requireStatus(201);
        SERVER.database().execute("""
                CREATE TEMP TABLE copied AS SELECT * FROM carillon.endpoint;
                CREATE TEMP TABLE secrets AS SELECT * FROM carillon.endpoint_secret;
                DO $$ BEGIN FOR i IN 2..%d LOOP
                  UPDATE copied SET name = 'e' || i;
                  INSERT INTO carillon.endpoint SELECT * FROM copied;
                END LOOP; END $$;
                DO $$ BEGIN FOR i IN 2..%d LOOP
                  UPDATE secrets SET endpoint = 'e' || i;
                  INSERT INTO carillon.endpoint_secret SELECT * FROM secrets;
                END LOOP; END $$
                """.formatted(ENDPOINTS, ENDPOINTS));
    }

    @Test
    void a_list_reads_the_headers_of_an_endpoint_once_and_no_encrypted_secret() {
        Transactions transactions = new Transactions(SERVER.database().pool(1));
        EndpointRepository endpoints = new EndpointRepository(transactions);

        long bytes = allocated(() -> {
            List<StoredEndpoint> found =
                    transactions.runInProject("large", session -> endpoints.list(session, "large", "", ENDPOINTS));
            assertThat(found).hasSize(ENDPOINTS).allMatch(one -> one.secrets().size() == SECRETS);
        });

        assertThat(bytes / ENDPOINTS).isLessThan(150_000);
        StoredEndpoint one = endpoints.find("large", "e2").orElseThrow();
        assertThat(one.secrets())
                .hasSize(SECRETS)
                .noneMatch(secret -> secret.sealed().isEmpty());
    }

    @Test
    void the_check_of_the_master_keys_reads_a_few_secrets_of_each_key() {
        ServerWebhooks withoutKeys =
                ServerWebhooks.on(SERVER.database().pool(1)).build();

        long bytes = allocated(() -> assertThatThrownBy(withoutKeys::checkSecrets)
                .isInstanceOf(CarillonException.class)
                .hasMessageContaining("no master key"));

        assertThat(bytes).isLessThan(2_000_000);
        withoutKeys.close();
    }

    /** Returns the bytes that this thread allocates for the work when it is not executed for the first time. */
    private static long allocated(Runnable work) {
        work.run();
        long before = THREADS.getCurrentThreadAllocatedBytes();
        work.run();
        return THREADS.getCurrentThreadAllocatedBytes() - before;
    }
}
