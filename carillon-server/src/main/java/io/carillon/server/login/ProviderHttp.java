package io.carillon.server.login;

import com.nimbusds.common.contenttype.ContentType;
import com.nimbusds.oauth2.sdk.http.HTTPRequestSender;
import com.nimbusds.oauth2.sdk.http.HTTPResponse;
import com.nimbusds.oauth2.sdk.http.ReadOnlyHTTPRequest;
import com.nimbusds.oauth2.sdk.http.ReadOnlyHTTPResponse;
import io.carillon.server.access.BoundedHttp;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.util.Objects;
import java.util.Optional;

/** Sends the requests of the OpenID Connect library with bounded time and size. */
final class ProviderHttp implements HTTPRequestSender {
    private final BoundedHttp http = new BoundedHttp();

    BoundedHttp.Reply get(URI address) throws IOException {
        return http.send(HttpRequest.newBuilder(address).header("Accept", "application/json"));
    }

    @Override
    public ReadOnlyHTTPResponse send(ReadOnlyHTTPRequest request) throws IOException {
        HttpRequest.Builder sent = HttpRequest.newBuilder(request.getURI())
                .method(
                        request.getMethod().name(),
                        HttpRequest.BodyPublishers.ofString(Objects.requireNonNullElse(request.getBody(), "")));
        request.getHeaderMap().forEach((name, values) -> values.forEach(value -> sent.header(name, value)));
        BoundedHttp.Reply reply = http.send(sent);
        HTTPResponse response = new HTTPResponse(reply.status());
        contentType(reply).ifPresent(response::setEntityContentType);
        response.setBody(reply.body());
        return response;
    }

    private static Optional<ContentType> contentType(BoundedHttp.Reply reply) {
        return reply.contentType().flatMap(text -> {
            try {
                return Optional.of(ContentType.parse(text));
            } catch (java.text.ParseException odd) {
                return Optional.empty();
            }
        });
    }
}
