# SPDX-License-Identifier: MIT
# Environment of tests that use a Vulkan device: lavapipe, no other device, and the synchronisation
# checks between submissions that the validation layer takes from the environment only.
set(KILN_VULKAN_TEST_ENVIRONMENT
    VK_ICD_FILENAMES=/usr/share/vulkan/icd.d/lvp_icd.x86_64.json
    VK_LAYER_ENABLES=VALIDATION_CHECK_ENABLE_SYNCHRONIZATION_VALIDATION_QUEUE_SUBMIT
    NODEVICE_SELECT=1
    LP_NUM_THREADS=2)
