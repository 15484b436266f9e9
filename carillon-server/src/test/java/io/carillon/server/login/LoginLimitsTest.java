package io.carillon.server.login;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.carillon.server.RestTestServer;
import io.carillon.server.RestTestServer.Reply;
import io.carillon.server.login.ForgingProvider.Forgery;
import java.net.URI;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Logins that wait for a slow provider leave the logins of others possible. */
class LoginLimitsTest {
    private static final int CALLBACKS = 8;
    private static final ForgingProvider PROVIDER = new ForgingProvider();

    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer(
            builder -> builder,
            server ->
                    server.provider(new OidcSettings(PROVIDER.issuer(), "client", Optional.empty(), Optional.empty())));

    @AfterAll
    static void stop_the_provider() {
        PROVIDER.close();
    }

    private static TestProvider.Step back() {
        TestProvider.Step started = TestProvider.start(SERVER, SERVER.server().port());
        PROVIDER.startLogin(started.next());
        String state = started.next().getQuery().replaceAll(".*state=([^&]+).*", "$1");
        return new TestProvider.Step(URI.create("http://x/ui/callback?code=c&state=" + state), started.cookies());
    }

    private static CompletableFuture<Reply> complete(TestProvider.Step back) {
        return CompletableFuture.supplyAsync(
                () -> TestProvider.complete(SERVER, SERVER.server().port(), back));
    }

    @Test
    void callbacks_that_wait_for_the_provider_do_not_refuse_others() {
        List<TestProvider.Step> steps =
                IntStream.range(0, CALLBACKS).mapToObj(i -> back()).toList();
        TestProvider.Step last = back();
        PROVIDER.forge(Forgery.WAITS);
        List<CompletableFuture<Reply>> waiting =
                steps.stream().map(LoginLimitsTest::complete).toList();
        await().until(() -> PROVIDER.tokenRequests() == CALLBACKS);

        Reply start = SERVER.sendTo(SERVER.server().port(), null, "GET", "/ui/login", null);
        CompletableFuture<Reply> ninth = complete(last);
        PROVIDER.forge(Forgery.NONE);

        assertThat(start.header("Location").orElseThrow()).startsWith(PROVIDER.issuer() + "/login");
        assertThat(TestProvider.cookie(ninth.join())).contains("carillon-session=");
        waiting.forEach(CompletableFuture::join);
    }
}
