package io.carillon.server.http;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Base64;
import java.util.Optional;

/**
 * The entity tags of resources. A tag has the version of the resource, if it has one, and a digest of its
 * representation, which may change without the version: the next runs of a schedule do. {@code If-Match} compares the
 * versions, so that such a change does not prevent an update.
 */
public final class EntityTags {
    private static final int DIGEST_BYTES = 12;
    /** Between the version and the digest; neither contains it. */
    private static final char VERSION_END = ':';

    private EntityTags() {}

    static String tag(long version) {
        return "\"" + version + "\"";
    }

    /**
     * Adds the digest of its representation to the tag of a response to GET. The response to a change keeps the tag
     * with the version only, because it may also contain warnings, so its digest would not be the one of the next GET.
     */
    static ApiResponse withTag(ApiRequest request, ApiResponse response) {
        boolean isRead = request.route().method().equals("GET") && response.status() == 200;
        String version = response.headers().get("ETag");
        if (!response.isJson() || !isRead) return response;
        String digest = digest(response.body());
        String tag = version == null
                ? "\"" + digest + "\""
                : version.substring(0, version.length() - 1) + VERSION_END + digest + "\"";
        return response.withHeader("ETag", tag);
    }

    /** Returns a response with status 304 if the client has this representation already, otherwise the response. */
    static ApiResponse unlessKnown(ApiRequest request, ApiResponse response) {
        boolean isRead = request.route().method().equals("GET") && response.status() == 200;
        String tag = response.headers().get("ETag");
        boolean isKnown = isRead
                && tag != null
                && response.isJson()
                && request.header("If-None-Match")
                        .filter(known -> contains(known, tag))
                        .isPresent();
        return isKnown ? response.notModified() : response;
    }

    private static boolean contains(String tags, String wanted) {
        for (String tag : tags.split(",", -1)) {
            String one = withoutWeakness(tag);
            if (one.equals("*") || one.equals(wanted)) return true;
        }
        return false;
    }

    private static String digest(byte[] body) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(body);
            return Base64.getUrlEncoder().withoutPadding().encodeToString(Arrays.copyOf(digest, DIGEST_BYTES));
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException("SHA-256 is missing in this JDK", impossible);
        }
    }

    /**
     * Throws a problem with status 412 if the headers {@code If-Match} and {@code If-None-Match} do not allow the
     * current version; {@code present} is empty if the resource does not exist.
     */
    public static void check(ApiRequest request, Optional<Long> present) {
        Optional<String> match = request.header("If-Match");
        Optional<String> noneMatch = request.header("If-None-Match");
        if (match.isPresent() && (present.isEmpty() || !matches(match.get(), present.get()))) throw changed(present);
        if (noneMatch.isPresent() && present.isPresent() && matches(noneMatch.get(), present.get()))
            throw preconditionFailed(
                    "A resource of this name already exists, at version %d. To change it, leave out If-None-Match."
                            .formatted(present.get()));
    }

    private static boolean matches(String tags, long version) {
        for (String tag : tags.split(",", -1)) {
            String one = withoutWeakness(tag);
            if (one.equals("*") || one.equals(tag(version)) || one.startsWith("\"" + version + VERSION_END))
                return true;
        }
        return false;
    }

    /** A proxy that compresses responses marks their tags as weak. */
    private static String withoutWeakness(String tag) {
        String one = tag.strip();
        return one.startsWith("W/") ? one.substring(2) : one;
    }

    private static Problem changed(Optional<Long> present) {
        return preconditionFailed(present.map(version ->
                        "The resource is now at version %d. Read it again and repeat the change.".formatted(version))
                .orElse("The resource does not exist. To create it, leave out If-Match."));
    }

    private static Problem preconditionFailed(String detail) {
        return Problem.of(412, "precondition-failed", detail);
    }
}
